import type { BlacklistResult, Counts, DomainReport, ListError, Report } from './report.ts'

/** What a report comes to. `incomplete`: nothing listed, but not every list gave a usable answer. */
export type Outcome = 'listed' | 'clean' | 'incomplete'

/** Adds up what the lists said. */
export function count(results: readonly BlacklistResult[]): Counts {
  const listedCount = results.filter((result) => result.listed).length
  const failedCount = results.filter((result) => result.error !== null).length
  const totalChecked = results.length
  return { totalChecked, listedCount, cleanCount: totalChecked - listedCount, failedCount }
}

/** Adds several counts up. */
export function sum(counts: readonly Counts[]): Counts {
  const total = (key: keyof Counts) => counts.reduce((so, each) => so + each[key], 0)
  return {
    totalChecked: total('totalChecked'),
    listedCount: total('listedCount'),
    cleanCount: total('cleanCount'),
    failedCount: total('failedCount'),
  }
}

/** What a report's figures come to. A target is clean only when every list answered and none lists it. */
export function outcomeOf(counts: Pick<Counts, 'listedCount' | 'failedCount'>): Outcome {
  if (counts.listedCount > 0) return 'listed'
  return counts.failedCount > 0 ? 'incomplete' : 'clean'
}

/** The sentence that sums an address's report up. */
export function ipVerdict(address: string, results: readonly BlacklistResult[]): string {
  const counts = count(results)
  const lists = `${counts.totalChecked} blacklists`
  const unknown = unknownPart(results)
  switch (outcomeOf(counts)) {
    case 'clean':
      return `${address} is clean: none of the ${lists} lists it.`
    case 'listed':
      return sentences(`${address} is listed on ${counts.listedCount} of ${lists}: ${names(listed(results))}.`, unknown)
    case 'incomplete':
      return sentences(notListed(address, counts), unknown)
  }
}

/** The sentence that sums a domain's report up, its addresses included. */
export function domainVerdict(report: Omit<DomainReport, 'verdict'>): string {
  const { target, results, ipReports, resolutionFailed } = report
  const all = [...results, ...ipReports.flatMap((each) => each.results)]
  const listings = [
    ...listed(results).map((result) => result.name),
    ...ipReports.flatMap((each) => listed(each.results).map((result) => `${result.name} (${each.target})`)),
  ]
  const unknown = unknownPart(all)
  const addresses = addressesPart(report)
  if (listings.length > 0) {
    const where = `${target} is listed ${times(listings.length)} in ${report.totalChecked} blacklist checks: ${join(listings)}.`
    return sentences(where, unknown, addresses)
  }
  if (outcomeOf(report) === 'clean' && !resolutionFailed) {
    const own = ipReports.length === 0 ? '' : `, nor any of its ${ipReports.length} checked addresses`
    return sentences(`${target} is clean: no blacklist lists it${own}.`, addresses)
  }
  return sentences(notListed(target, report), unknown, addresses)
}

const listed = (results: readonly BlacklistResult[]) => results.filter((result) => result.listed)
const names = (results: readonly BlacklistResult[]) => join(results.map((result) => result.name))
const sentences = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(' ')
const times = (figure: number) => (figure === 1 ? 'once' : `${figure} times`)

function notListed(target: string, { totalChecked, failedCount }: Counts): string {
  const answered = totalChecked - failedCount
  if (answered === 0) return `Nothing is known about ${target}: no blacklist gave a usable answer.`
  return `${target} is not listed by the ${answered} of ${totalChecked} blacklist checks that gave an answer.`
}

const inWords: Readonly<Record<ListError, string>> = {
  timeout: 'no answer in time',
  refused: 'refused to answer',
  unreachable: 'unreachable',
  invalid_answer: 'answer not usable',
  unsupported: 'holds no IPv6 addresses',
}

/** Who gave no usable answer and why, so that nobody reads silence as a clean bill; empty when all answered. */
function unknownPart(results: readonly BlacklistResult[]): string {
  const failures = new Set(
    results.flatMap((result) => (result.error === null ? [] : `${result.name} (${inWords[result.error]})`)),
  )
  return failures.size === 0 ? '' : `Not known: ${join([...failures])}.`
}

function addressesPart(report: Omit<DomainReport, 'verdict'>): string {
  const { resolutionFailed } = report
  if (resolutionFailed && report.resolvedIps.length === 0) return 'Its addresses could not be looked up.'
  if (resolutionFailed) return 'Some of its addresses could not be looked up.'
  if (report.resolvedIps.length === 0) return 'It has no addresses.'
  if (report.resolvedIpsTruncated) {
    return `Only ${report.ipReports.length} of its ${report.resolvedIps.length} addresses were checked.`
  }
  return report.ipReports.length === 0 ? 'None of its addresses is public.' : ''
}

function join(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** What a whole report comes to; a domain whose addresses could not be looked up is never clean. */
export function reportOutcome(report: Report): Outcome {
  const outcome = outcomeOf(report)
  return outcome === 'clean' && report.targetType === 'domain' && report.resolutionFailed ? 'incomplete' : outcome
}
