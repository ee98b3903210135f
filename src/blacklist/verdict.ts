import type { BlacklistResult, Counts, DomainReport, IpReport, ListError, Report } from './report.ts'
import { listErrors } from './report.ts'

/**
 * What a report comes to. `policy`: only entries that accuse nobody, whatever else is not known; `incomplete`: nothing
 * listed, but not every list gave a usable answer.
 */
export type Outcome = 'listed' | 'policy' | 'incomplete' | 'clean'

/** Adds up what the lists said. */
export function count(results: readonly BlacklistResult[]): Counts {
  const listedCount = results.filter((result) => result.listed).length
  const policyCount = results.filter((result) => result.policy).length
  const failedCount = results.filter((result) => result.error !== null).length
  const totalChecked = results.length
  return { totalChecked, listedCount, policyCount, cleanCount: totalChecked - listedCount, failedCount }
}

/** Adds several counts up. */
export function sum(counts: readonly Counts[]): Counts {
  const total = (key: keyof Counts) => counts.reduce((so, each) => so + each[key], 0)
  return {
    totalChecked: total('totalChecked'),
    listedCount: total('listedCount'),
    policyCount: total('policyCount'),
    cleanCount: total('cleanCount'),
    failedCount: total('failedCount'),
  }
}

/** What a report's figures come to. A target is clean only when every list answered and none lists it. */
export function outcomeOf(counts: Pick<Counts, 'listedCount' | 'policyCount' | 'failedCount'>): Outcome {
  if (counts.listedCount > counts.policyCount) return 'listed'
  if (counts.policyCount > 0) return 'policy'
  return counts.failedCount > 0 ? 'incomplete' : 'clean'
}

/** What an entry of policy means, in a sentence. */
const POLICY = 'A policy entry asks that no mail comes from an address directly; it accuses nobody.'

/** The sentence that sums an address's report up. */
export function ipVerdict(address: string, results: readonly BlacklistResult[]): string {
  const counts = count(results)
  const lists = `${counts.totalChecked} blacklists`
  const isListed = `${address} is listed on ${counts.listedCount} of ${lists}`
  switch (outcomeOf(counts)) {
    case 'clean':
      return `${address} is clean: none of the ${lists} lists it.`
    case 'listed':
      return sentences(`${isListed}: ${listings(results)}.`, unknownPart(results))
    case 'policy':
      return sentences(`${isListed} as a policy entry only: ${policies(results)}.`, POLICY, unknownPart(results))
    case 'incomplete':
      return sentences(notListed(address, counts, 'blacklists'), unknownPart(results))
  }
}

/** The sentences that sum a domain's report up, its addresses included. */
export function domainVerdict(report: Omit<DomainReport, 'verdict'>): string {
  const { target, results, ipReports, resolutionFailed } = report
  const unknown = unknownPart([...results, ...ipReports.flatMap((each) => each.results)])
  const outcome = outcomeOf(report)
  if (outcome === 'listed') return sentences(listedPart(report), unknown, addressesPart(report))
  if (outcome === 'policy') return sentences(policyPart(report), POLICY, unknown, addressesPart(report))
  if (outcome === 'clean' && !resolutionFailed) {
    return sentences(cleanPart(report), addressesPart(report))
  }
  return sentences(notListed(target, report, 'blacklist checks'), unknown, addressesPart(report))
}

const namesOf = (results: readonly BlacklistResult[]) => join(results.map((result) => result.name))
const accusing = (results: readonly BlacklistResult[]) => results.filter(({ listed, policy }) => listed && !policy)
const policies = (results: readonly BlacklistResult[]) => namesOf(results.filter(({ policy }) => policy))
const sentences = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(' ')

/** The lists that name a target, those apart whose entry is one of policy. */
function listings(results: readonly BlacklistResult[]): string {
  const entries = policies(results)
  return [namesOf(accusing(results)), entries && `policy entry: ${entries}`].filter((part) => part !== '').join('; ')
}

/** Who is listed where: a listed address of a domain does not make the domain listed. */
function listedPart({ target, results, ipReports }: Omit<DomainReport, 'verdict'>): string {
  const addresses = ipReports.filter((each) => each.listedCount > each.policyCount)
  const only = ipReports.filter((each) => outcomeOf(each) === 'policy')
  const which = join(addresses.map((each) => `${each.target} (${listings(each.results)})`))
  const has = addresses.length === 1 ? 'has a listed address' : `has ${addresses.length} listed addresses`
  const said = [
    ...(accusing(results).length > 0 ? [`is listed on ${listings(results)}`] : []),
    ...(addresses.length > 0 ? [`${has}: ${which}`] : []),
  ]
  const more = only.length === 0 ? '' : `${capitalized(policyEntries(only))}. ${POLICY}`
  return sentences(`${target} ${said.join(', and ')}.`, more)
}

/** Where only policies name what was checked. */
function policyPart({ target, ipReports }: Omit<DomainReport, 'verdict'>): string {
  const only = ipReports.filter((each) => each.policyCount > 0)
  return `No blacklist accuses ${target}; ${policyEntries(only)}.`
}

function policyEntries(reports: readonly IpReport[]): string {
  const which = join(reports.map((each) => `${each.target} (${policies(each.results)})`))
  return reports.length === 1 ? `its address ${which} has a policy entry` : `its addresses ${which} have policy entries`
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function cleanPart({ target, ipReports: { length } }: Omit<DomainReport, 'verdict'>): string {
  if (length === 0) return `${target} is clean: no blacklist lists it.`
  const addresses = length === 1 ? 'checked address' : `${length} checked addresses`
  return `${target} is clean: no blacklist lists it or its ${addresses}.`
}

function notListed(target: string, { totalChecked, failedCount }: Counts, asked: string): string {
  const answered = totalChecked - failedCount
  if (answered === 0) return `Nothing is known about ${target}: no blacklist gave a usable answer.`
  return `No listing of ${target} was found: ${answered} of ${totalChecked} ${asked} gave a usable answer.`
}

const inWords: Readonly<Record<ListError, string>> = {
  timeout: 'no answer in time',
  refused: 'query refused',
  unreachable: 'unreachable',
  invalid_answer: 'answer not usable',
  unsupported: 'no known IPv6 data',
}

/** Who gave no usable answer and why, so that nobody reads silence as a clean bill; empty when all answered. */
function unknownPart(results: readonly BlacklistResult[]): string {
  const failures = listErrors.flatMap((error) => {
    const failed = results.filter((result) => result.error === error).map((result) => result.name)
    return failed.length === 0 ? [] : `${join([...new Set(failed)])} (${inWords[error]})`
  })
  return failures.length === 0 ? '' : `Not known: ${failures.join('; ')}.`
}

function addressesPart(report: Omit<DomainReport, 'verdict'>): string {
  const { resolutionFailed, resolvedIps, resolvedIpsTruncated, ipReports } = report
  const found = resolvedIps.length
  const checked = ipReports.length
  if (found === 0) return resolutionFailed ? 'Its addresses could not be looked up.' : 'It has no addresses.'
  const more = resolutionFailed ? 'It may have more addresses: one of the lookups failed.' : ''
  if (checked === 0) return sentences('None of its addresses is public.', more)
  const were = checked === 1 ? 'was' : 'were'
  const rest = found - checked === 1 ? 'the other is' : 'the others are'
  const why = resolvedIpsTruncated ? '' : `: ${rest} not public`
  return sentences(checked < found ? `Only ${checked} of its ${found} addresses ${were} checked${why}.` : '', more)
}

function join(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** What a whole report comes to; a domain whose addresses could not be looked up is never clean. */
export function reportOutcome(report: Report): Outcome {
  const outcome = outcomeOf(report)
  return outcome === 'clean' && report.targetType === 'domain' && report.resolutionFailed ? 'incomplete' : outcome
}
