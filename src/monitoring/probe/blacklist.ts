import { z } from 'zod'
import type { BlacklistResult, Report } from '../../blacklist/check-report.ts'
import { blacklists } from '../../blacklist/list.ts'
import { parseTarget } from '../../blacklist/target.ts'
import { described, named } from '../../core/described.ts'
import { Invalid } from '../../core/errors.ts'
import { cappedText } from '../../core/validation.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import type { Probe, ProbeRun } from './probe.ts'

const lists = blacklists(undefined)
const listIds = lists.map(({ id }) => id)

/** An IP address or a domain, in canonical form. */
const target = cappedText(1024).transform((text, ctx) => {
  try {
    const parsed = parseTarget(text)
    return parsed.kind === 'ip' ? parsed.address : parsed.name
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    ctx.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
})

const listId = named(z.enum(listIds, { error: `must be the id of a list: ${listIds.join(', ')}` }), {
  name: 'String',
  texts: Object.fromEntries(lists.map(({ id, name }) => [id, name])),
})

const options = z.strictObject({
  target: described(target, { label: 'Address or domain', description: 'An IP address or a domain.' }),
  acknowledged: described(
    z
      .array(listId)
      .transform((ids) => [...new Set(ids)])
      .default([]),
    { label: 'Ignored lists', description: 'Ids of blacklists whose listings are ignored.', isRare: true },
  ),
})

export type BlacklistOptions = z.output<typeof options>

/** Checks an IP address, or a domain with its addresses, against the blacklists. */
export const blacklist: Probe<typeof options> = {
  kind: 'BLACKLIST',
  options,
  words: { name: 'Blacklists', about: 'Checks an address or a domain on the mail blacklists.' },
  anywhere: true,
  minIntervalSeconds: 900,
  defaultIntervalSeconds: 3600,
  smallest: { target: '192.0.2.1' },
  subject: 'target',
  target: () => null,
  run: async ({ target, acknowledged }, run) => {
    const { checker } = run.tools
    const report = await withinLimits(run, (signal) => checker.check(parseTarget(target), { owner: run.owner, signal }))
    const idOf = new Map(checker.lists.map(({ name, id }) => [name, id]))
    const answers = answersIn(report).map((each) => ({ ...each, id: idOf.get(each.result.name) ?? '' }))
    const isUnresolved = report.targetType === 'domain' && report.resolutionFailed
    const result = judgeAnswers(answers, new Set<string>(acknowledged), isUnresolved, run)
    const isNowhere = report.targetType === 'domain' && !isUnresolved && report.resolvedIps.length === 0
    if (result.outcome !== 'UP' || !isNowhere || !(await isNonexistent(target, run))) return result
    return { ...result, outcome: 'UNKNOWN', message: `${target} does not exist (NXDOMAIN): ${result.message}` }
  },
}

/** Returns whether a name does not exist. The answer is in the cache after the check. */
async function isNonexistent(name: string, { tools, owner, signal }: ProbeRun): Promise<boolean> {
  const answer = await tools.checker.lookup.dns.query(name, 'A', { owner, signal })
  return answer.kind === 'none' && answer.nxdomain
}

/** A list's answer about the target, or about an address of the target. */
interface Answer {
  readonly id: string
  readonly result: BlacklistResult
  readonly address: string | null
}

function answersIn(report: Report): Omit<Answer, 'id'>[] {
  const own = report.results.map((result) => ({ result, address: null }))
  if (report.targetType === 'ip') return own
  return [
    ...own,
    ...report.ipReports.flatMap(({ target, results }) => results.map((result) => ({ result, address: target }))),
  ]
}

/**
 * Derives a result from the answers. A list that refuses or fails neither lists nor clears the target, so it neither
 * starts nor ends an outage. A list without IPv6 data has not failed.
 */
function judgeAnswers(
  all: readonly Answer[],
  acknowledged: ReadonlySet<string>,
  isUnresolved: boolean,
  { state, lastDown }: ProbeRun,
): ProbeResult {
  const counted = all.filter(({ id, result }) => !acknowledged.has(id) && result.error !== 'unsupported')
  const listings = counted.filter(isHeld)
  const failures = counted.filter(({ result }) => result.error !== null)
  const detail = { listedOn: idsOf(listings), failedLists: idsOf(failures) }
  if (listings.length > 0) return probeResult('DOWN', `Listed on ${describeListings(listings)}`, { detail })

  const unknown = `no usable answer from ${namesOf(failures)}`
  if (counted.length > 0 && failures.length === counted.length)
    return probeResult('UNKNOWN', capitalized(unknown), { detail })
  const held = lastDown?.listedOn
  const open = held ? failures.filter(({ id }) => held.includes(id)) : failures
  if (state === 'DOWN' && (open.length > 0 || isUnresolved)) {
    const why = open.length > 0 ? `no usable answer from ${namesOf(open)}` : 'its addresses could not be resolved'
    return probeResult('UNKNOWN', `Unknown whether it is still listed: ${why}`, { detail })
  }
  const policies = counted.filter(({ result }) => result.policy)
  const known = all.filter(({ id, result }) => acknowledged.has(id) && result.listed)
  const remarks = [
    `${policies.length > 0 ? 'Reported for abuse by' : 'Listed on'} none of ${countOf(idsOf(counted).length - detail.failedLists.length)}`,
    ...(policies.length > 0 ? [describeListings(policies)] : []),
    ...(known.length > 0 ? [`acknowledged: ${describeListings(known)}`] : []),
    ...(failures.length > 0 ? [unknown] : []),
    ...(isUnresolved ? ['its addresses could not be resolved'] : []),
  ]
  return probeResult('UP', remarks.join('; '), { detail })
}

/** Returns whether a listing counts. A policy entry for an address of a domain does not: it may be a web server. */
function isHeld({ result, address }: Answer): boolean {
  return result.listed && !(result.policy && address !== null)
}

function idsOf(answers: readonly Answer[]): string[] {
  return [...new Set(answers.map(({ id }) => id))]
}

function namesOf(answers: readonly Answer[]): string {
  return [...new Set(answers.map(({ result }) => result.name))].join(', ')
}

/** Names the lists, each with the listed address if it is not the target. */
function describeListings(answers: readonly Answer[]): string {
  const place = ({ result: { name, policy }, address }: Answer) => {
    const more = [address, policy ? 'policy entry' : null].filter((part) => part !== null)
    return more.length > 0 ? `${name} (${more.join(', ')})` : name
  }
  return answers.map(place).join(', ')
}

function countOf(lists: number): string {
  return lists === 1 ? '1 list that answered' : `${lists} lists that answered`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Runs `work` with a signal that aborts at the deadline. Lists that have not answered by then count as failed. */
async function withinLimits<T>({ timeoutMs, signal }: ProbeRun, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, timeoutMs)
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
