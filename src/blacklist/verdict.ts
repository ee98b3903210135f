import type { BlacklistResult, Counts, DomainReport, IpReport, ListError, Report } from './check-report.ts'
import { listErrors } from './check-report.ts'

/**
 * The verdict on a report. `policy`: there are only policy entries; some lists may not have answered. `incomplete`:
 * there is no listing, but not every list gave a usable answer.
 */
export type Verdict = 'listed' | 'policy' | 'incomplete' | 'clean'

/** Counts the answers of the lists. */
export function countResults(results: readonly BlacklistResult[]): Counts {
  const listedCount = results.filter((result) => result.listed).length
  const policyCount = results.filter((result) => result.policy).length
  const failedCount = results.filter((result) => result.error !== null).length
  const totalChecked = results.length
  return { totalChecked, listedCount, policyCount, cleanCount: totalChecked - listedCount, failedCount }
}

/** Adds up several counts. */
export function sumCounts(counts: readonly Counts[]): Counts {
  const total = (key: keyof Counts) => counts.reduce((so, each) => so + each[key], 0)
  return {
    totalChecked: total('totalChecked'),
    listedCount: total('listedCount'),
    policyCount: total('policyCount'),
    cleanCount: total('cleanCount'),
    failedCount: total('failedCount'),
  }
}

/** Returns the verdict for a report’s counts. A target is clean only if every list answered and none lists it. */
export function verdictOf(counts: Pick<Counts, 'listedCount' | 'policyCount' | 'failedCount'>): Verdict {
  if (counts.listedCount > counts.policyCount) return 'listed'
  if (counts.policyCount > 0) return 'policy'
  return counts.failedCount > 0 ? 'incomplete' : 'clean'
}

/** The explanation of a policy entry, in one sentence. */
const POLICY_EXPLANATION =
  'A policy entry says that an address should not send mail directly; it does not report abuse.'

/** Returns the verdict on an address in one or more sentences. */
export function ipVerdictText(address: string, results: readonly BlacklistResult[]): string {
  const counts = countResults(results)
  const lists = `${counts.totalChecked} blacklists`
  const isListed = `${address} is listed on ${counts.listedCount} of ${lists}`
  switch (verdictOf(counts)) {
    case 'clean':
      return `${address} is clean: none of the ${lists} lists it.`
    case 'listed':
      return joinSentences(`${isListed}: ${describeListings(results)}.`, failuresPart(results))
    case 'policy':
      return joinSentences(
        `${isListed} as a policy entry only: ${policyListNames(results)}.`,
        POLICY_EXPLANATION,
        failuresPart(results),
      )
    case 'incomplete':
      return joinSentences(incompletePart(address, counts, 'blacklists'), failuresPart(results))
  }
}

/** Returns the verdict on a domain and its addresses in one or more sentences. */
export function domainVerdictText(report: Omit<DomainReport, 'verdict'>): string {
  const { target, results, ipReports, resolutionFailed } = report
  const unknown = failuresPart([...results, ...ipReports.flatMap((each) => each.results)])
  const verdict = verdictOf(report)
  if (verdict === 'listed') return joinSentences(listedPart(report), unknown, addressesPart(report))
  if (verdict === 'policy') return joinSentences(policyPart(report), POLICY_EXPLANATION, unknown, addressesPart(report))
  if (verdict === 'clean' && !resolutionFailed) {
    return joinSentences(cleanPart(report), addressesPart(report))
  }
  return joinSentences(incompletePart(target, report, 'blacklist checks'), unknown, addressesPart(report))
}

const joinNames = (results: readonly BlacklistResult[]) => joinWithAnd(results.map((result) => result.name))
const abuseListings = (results: readonly BlacklistResult[]) => results.filter(({ listed, policy }) => listed && !policy)
const policyListNames = (results: readonly BlacklistResult[]) => joinNames(results.filter(({ policy }) => policy))
const joinSentences = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(' ')

/** Names the lists with a listing, then the lists with a policy entry. */
function describeListings(results: readonly BlacklistResult[]): string {
  const entries = policyListNames(results)
  return [joinNames(abuseListings(results)), entries && `policy entry: ${entries}`]
    .filter((part) => part !== '')
    .join('; ')
}

/**
 * Describes the listings of a domain and its addresses separately: a listed address does not make its domain listed.
 */
function listedPart({ target, results, ipReports }: Omit<DomainReport, 'verdict'>): string {
  const addresses = ipReports.filter((each) => each.listedCount > each.policyCount)
  const only = ipReports.filter((each) => verdictOf(each) === 'policy')
  const which = joinWithAnd(addresses.map((each) => `${each.target} (${describeListings(each.results)})`))
  const has = addresses.length === 1 ? 'has a listed address' : `has ${addresses.length} listed addresses`
  const clauses = [
    ...(abuseListings(results).length > 0 ? [`is listed on ${describeListings(results)}`] : []),
    ...(addresses.length > 0 ? [`${has}: ${which}`] : []),
  ]
  const more = only.length === 0 ? '' : `${capitalize(describePolicyEntries(only))}. ${POLICY_EXPLANATION}`
  return joinSentences(`${target} ${clauses.join(', and ')}.`, more)
}

/** Describes a domain that only has policy entries. */
function policyPart({ target, ipReports }: Omit<DomainReport, 'verdict'>): string {
  const only = ipReports.filter((each) => each.policyCount > 0)
  return `No blacklist reports abuse by ${target}; ${describePolicyEntries(only)}.`
}

function describePolicyEntries(reports: readonly IpReport[]): string {
  const which = joinWithAnd(reports.map((each) => `${each.target} (${policyListNames(each.results)})`))
  return reports.length === 1 ? `its address ${which} has a policy entry` : `its addresses ${which} have policy entries`
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function cleanPart({ target, ipReports: { length } }: Omit<DomainReport, 'verdict'>): string {
  if (length === 0) return `${target} is clean: no blacklist lists it.`
  const addresses = length === 1 ? 'checked address' : `${length} checked addresses`
  return `${target} is clean: no blacklist lists it or its ${addresses}.`
}

function incompletePart(target: string, { totalChecked, failedCount }: Counts, asked: string): string {
  const answered = totalChecked - failedCount
  if (answered === 0) return `Nothing is known about ${target}: no blacklist gave a usable answer.`
  return `No listing of ${target} was found: ${answered} of ${totalChecked} ${asked} gave a usable answer.`
}

const errorPhrases: Readonly<Record<ListError, string>> = {
  timeout: 'no answer in time',
  refused: 'query refused',
  unreachable: 'unreachable',
  invalid_answer: 'answer not usable',
  unsupported: 'no known IPv6 data',
}

/** Names the lists that gave no usable answer and the reasons; empty: all lists answered. */
function failuresPart(results: readonly BlacklistResult[]): string {
  const failures = listErrors.flatMap((error) => {
    const failed = results.filter((result) => result.error === error).map((result) => result.name)
    return failed.length === 0 ? [] : `${joinWithAnd([...new Set(failed)])} (${errorPhrases[error]})`
  })
  return failures.length === 0 ? '' : `Unknown: ${failures.join('; ')}.`
}

function addressesPart(report: Omit<DomainReport, 'verdict'>): string {
  const { resolutionFailed, resolvedIps, resolvedIpsTruncated, ipReports } = report
  const found = resolvedIps.length
  const checked = ipReports.length
  if (found === 0) return resolutionFailed ? 'Its addresses could not be looked up.' : 'It has no addresses.'
  const more = resolutionFailed ? 'It may have more addresses: one of the lookups failed.' : ''
  if (checked === 0) return joinSentences('None of its addresses is public.', more)
  const were = checked === 1 ? 'was' : 'were'
  const rest = found - checked === 1 ? 'the other is' : 'the others are'
  const why = resolvedIpsTruncated ? '' : `: ${rest} not public`
  return joinSentences(checked < found ? `Only ${checked} of its ${found} addresses ${were} checked${why}.` : '', more)
}

function joinWithAnd(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** Returns the verdict of a whole report. A domain whose addresses could not be resolved is never clean. */
export function reportVerdict(report: Report): Verdict {
  const verdict = verdictOf(report)
  return verdict === 'clean' && report.targetType === 'domain' && report.resolutionFailed ? 'incomplete' : verdict
}

/** Returns whether a later check of the target may give the answers that are missing in a report. */
export function mayAnswerLater(report: Report): boolean {
  if (report.targetType === 'domain' && report.resolutionFailed) return true
  const parts: readonly { readonly results: readonly BlacklistResult[] }[] =
    report.targetType === 'ip' ? [report] : [report, ...report.ipReports]
  return parts.some(({ results }) => results.some(({ error }) => error !== null && error !== 'unsupported'))
}
