import { z } from 'zod'
import { blacklists } from '../../blacklist/list.ts'
import type { BlacklistResult, Report } from '../../blacklist/report.ts'
import { parseTarget } from '../../blacklist/target.ts'
import { Invalid } from '../../errors.ts'
import type { Finding } from '../finding.ts'
import { found } from '../finding.ts'
import type { Probe, ProbeRun } from './probe.ts'

const listIds = blacklists(undefined).map(({ id }) => id)

const options = z.strictObject({
  /** An IP address or a domain, in canonical spelling. */
  target: z.string().transform((text, ctx) => {
    try {
      const target = parseTarget(text)
      return target.kind === 'ip' ? target.address : target.name
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      ctx.addIssue({ code: 'custom', message: error.message })
      return z.NEVER
    }
  }),
  /** Ids of lists whose listings the owner knows of: they do not count. */
  acknowledged: z
    .array(z.enum(listIds, { error: `must be the id of a list: ${listIds.join(', ')}` }))
    .transform((ids) => [...new Set(ids)])
    .default([]),
})

export type BlacklistOptions = z.output<typeof options>

/** Checks an IP address or a domain, with the addresses it resolves to, on the blacklists. */
export const blacklist: Probe<typeof options> = {
  kind: 'BLACKLIST',
  options,
  anywhere: true,
  minIntervalSeconds: 900,
  run: async ({ target, acknowledged }, run) => {
    const { checker } = run.tools
    const report = await withinLimits(run, (signal) => checker.check(parseTarget(target), { signal }))
    const idOf = new Map(checker.lists.map(({ name, id }) => [name, id]))
    const answers = answersIn(report).map((each) => ({ ...each, id: idOf.get(each.result.name) ?? '' }))
    const isUnresolved = report.targetType === 'domain' && report.resolutionFailed
    const finding = judgeAnswers(answers, new Set<string>(acknowledged), isUnresolved, run)
    const isNowhere = report.targetType === 'domain' && !isUnresolved && report.resolvedIps.length === 0
    if (finding.outcome !== 'UP' || !isNowhere || !(await isNoName(target, run))) return finding
    return { ...finding, outcome: 'UNKNOWN', message: `${target} does not exist (NXDOMAIN): ${finding.message}` }
  },
}

/** Whether DNS says that there is no such name; the answer was asked for just now, and is remembered. */
async function isNoName(name: string, { tools, signal }: ProbeRun): Promise<boolean> {
  const answer = await tools.checker.lookup.dns.query(name, 'A', { signal })
  return answer.kind === 'none' && answer.nxdomain
}

/** What a list said of the target, or of an address that it resolves to. */
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
 * A list that refuses or fails has neither listed nor cleared the target: it opens no outage and ends none. That a list
 * holds no IPv6 addresses is no failure.
 */
function judgeAnswers(
  all: readonly Answer[],
  acknowledged: ReadonlySet<string>,
  isUnresolved: boolean,
  { state, lastDown }: ProbeRun,
): Finding {
  const heeded = all.filter(({ id, result }) => !acknowledged.has(id) && result.error !== 'unsupported')
  const listings = heeded.filter(isHeld)
  const failures = heeded.filter(({ result }) => result.error !== null)
  const detail = { listedOn: idsOf(listings), failedLists: idsOf(failures) }
  if (listings.length > 0) return found('DOWN', `Listed on ${placesOf(listings)}`, { detail })

  const unknown = `no usable answer from ${namesOf(failures)}`
  if (heeded.length > 0 && failures.length === heeded.length) return found('UNKNOWN', capitalized(unknown), { detail })
  const held = lastDown?.listedOn
  const open = held ? failures.filter(({ id }) => held.includes(id)) : failures
  if (state === 'DOWN' && (open.length > 0 || isUnresolved)) {
    const why = open.length > 0 ? `no usable answer from ${namesOf(open)}` : 'its addresses could not be looked up'
    return found('UNKNOWN', `Not known whether it is still listed: ${why}`, { detail })
  }
  const policies = heeded.filter(({ result }) => result.policy)
  const known = all.filter(({ id, result }) => acknowledged.has(id) && result.listed)
  const remarks = [
    `${policies.length > 0 ? 'Accused by' : 'Listed on'} none of ${countOf(idsOf(heeded).length - detail.failedLists.length)}`,
    ...(policies.length > 0 ? [placesOf(policies)] : []),
    ...(known.length > 0 ? [`acknowledged: ${placesOf(known)}`] : []),
    ...(failures.length > 0 ? [unknown] : []),
    ...(isUnresolved ? ['its addresses could not be looked up'] : []),
  ]
  return found('UP', remarks.join('; '), { detail })
}

/** Whether a listing is held against the target; that no mail should come from a domain's web server is no fault of it. */
function isHeld({ result, address }: Answer): boolean {
  return result.listed && !(result.policy && address !== null)
}

function idsOf(answers: readonly Answer[]): string[] {
  return [...new Set(answers.map(({ id }) => id))]
}

function namesOf(answers: readonly Answer[]): string {
  return [...new Set(answers.map(({ result }) => result.name))].join(', ')
}

/** The lists, each with the addresses it holds when it is not the target itself. */
function placesOf(answers: readonly Answer[]): string {
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

/** Does `work` with a signal that aborts at the run's deadline, when lists that have not answered have failed. */
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
