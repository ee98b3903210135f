import { parse } from 'tldts'
import { z } from 'zod'
import { described } from '../../core/described.ts'
import { DAY } from '../../core/time.ts'
import { trimmedText } from '../../core/validation.ts'
import { hostProblem, readHost } from '../../network/outbound/host.ts'
import type { Registration } from '../../network/outbound/rdap.ts'
import { specialUseOf } from '../../network/special-use-name.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import { days } from './certificate-expiry.ts'
import type { Probe } from './probe.ts'

/** A registrable domain, in ASCII. */
const registrable = trimmedText(255).transform((text, ctx) => {
  const host = readHost(text)
  const domain = host?.kind === 'name' ? parse(host.name, { extractHostname: false }) : null
  const problem = hostProblem(text)
  const special = host?.kind === 'name' ? specialUseOf(host.name) : null
  if (problem === null && special === null && domain?.isIcann && domain.domain !== null) return domain.domain
  const reason = special === null ? '' : `; ${special.reason}`
  const otherwise = `must be a domain that can be registered, such as example.com${reason}`
  ctx.addIssue({ code: 'custom', message: problem ?? otherwise })
  return z.NEVER
})

const options = z.strictObject({
  domain: described(registrable, {
    label: 'Domain',
    description: 'The domain. For a subdomain, the monitor checks its registrable domain.',
    hint: 'For example, example.com.',
  }),
  warnDays: described(z.int().min(0).max(365).default(30), {
    label: 'Degraded before it expires',
    description: 'The monitor is DEGRADED this many days before the registration expires.',
    hint: 'Days.',
  }),
})

/** The statuses of domains that are lost or removed from the DNS (RFC 8056 §2). */
const lost = ['redemption period', 'pending delete', 'client hold', 'server hold']

/** Queries the registry of a domain for the expiry of its registration (RDAP). */
export const domain: Probe<typeof options> = {
  kind: 'DOMAIN',
  options,
  words: {
    name: 'Domain',
    about: 'Checks when the registration of a domain expires (RDAP).',
  },
  anywhere: true,
  minIntervalSeconds: 900,
  defaultIntervalSeconds: 3600,
  smallest: { domain: 'example.com' },
  subject: 'domain',
  // The owner does not choose the registry, and the RDAP client limits queries to it.
  target: () => null,
  async run(given, run) {
    const { tools, timeoutMs, signal, waitMs = 0 } = run
    const registration = await tools.rdap.registrationOf(given.domain, { timeoutMs, signal, waitMs })
    return judgeRegistration(given, registration, tools.now())
  },
}

/** Converts a registration to a result. */
export function judgeRegistration(
  { domain: name, warnDays }: z.output<typeof options>,
  registration: Registration,
  now: Date,
): ProbeResult {
  if (registration.kind === 'unknown')
    return probeResult('UNKNOWN', `The expiry of ${name} is unknown: ${registration.why}`)
  if (registration.kind === 'missing') return probeResult('DOWN', `The registry has no registration of ${name}`)
  const { expiresAt, statuses } = registration
  const problem = statuses.find((status) => lost.includes(status.toLowerCase()))
  if (problem !== undefined)
    return probeResult('DOWN', `The registry reports the status of ${name} as ${problem.toLowerCase()}`)
  if (expiresAt === null) return probeResult('UNKNOWN', `The registry does not report when ${name} expires`)
  const leftMs = expiresAt.getTime() - now.getTime()
  const day = expiresAt.toISOString().slice(0, 10)
  if (leftMs <= 0) return probeResult('DOWN', `The registration of ${name} expired on ${day}`)
  if (leftMs < warnDays * DAY)
    return probeResult('DEGRADED', `The registration of ${name} expires in ${days(leftMs)}, on ${day}`)
  return probeResult('UP', `Registered until ${day}`)
}
