import type { BlacklistResult, DomainReport, IpReport } from '../../src/blacklist/check-report.ts'
import type { ListInfos } from '../../src/blacklist/html/landing.tsx'
import { countResults, domainVerdictText, ipVerdictText, sumCounts } from '../../src/blacklist/verdict.ts'

/** The time of all reports made here. */
const checkedAt = new Date('2026-11-20T12:52:19Z')

const list = (name: string, description: string) => ({ name, description, health: 'ok' }) as const

/** Lists like the real ones. */
export const lists: ListInfos = {
  ip: [
    list(
      'Spamhaus ZEN',
      'The most widely used list: spam sources, infected hosts, hijacked networks and end-user ranges.',
    ),
    list(
      'SpamCop',
      'Hosts that SpamCop users and spam traps reported within the last day. Entries expire automatically.',
    ),
    { ...list('Barracuda', 'Spam sources seen by Barracuda appliances.'), health: 'refusing' },
    list('PSBL', 'The Passive Spam Block List: hosts that sent mail to spam traps; anyone may remove an entry.'),
    { ...list('Mailspike', 'Senders with a bad reputation.'), health: 'unknown' },
    list('DroneBL', 'Abusable or attacking hosts: open proxies, botnet members, brute-force attackers, abused VPNs.'),
  ],
  domain: [
    list('SURBL', 'Domains seen in the text of unwanted mail: phishing, malware, abuse and cracked sites.'),
    list('URIBL', 'Domains that belong to spammers, seen in the text of unsolicited mail.'),
  ],
}

/** A list's answer: not listed by default. */
export function answer(name: string, changes: Partial<BlacklistResult> = {}): BlacklistResult {
  const known = [...lists.ip, ...lists.domain].find((each) => each.name === name)
  const description = known?.description ?? 'A list.'
  const delistUrl = 'https://lists.example/contest?target=203.0.113.7'
  const base = { name, listed: false, policy: false, response: null, description, delistUrl }
  return { ...base, error: null, codes: [], note: null, ...changes }
}

/** The differences of an answer with a listing. */
export const listing = {
  listed: true,
  response: 'Blocked - see https://lists.example/query/203.0.113.7',
  codes: ['127.0.0.2'],
  note: 'SBL: spam source or spam support service',
} as const

/** The differences of an answer with a policy entry. */
export const policy = {
  listed: true,
  policy: true,
  response: 'https://lists.example/pbl/query/203.0.113.7',
  codes: ['127.0.0.11'],
  note: 'PBL: end-user range that should not send mail directly',
} as const

/** The answers of all six lists, with changes by name. */
export function answers(changes: Readonly<Record<string, Partial<BlacklistResult>>> = {}): readonly BlacklistResult[] {
  return lists.ip.map(({ name }) => answer(name, changes[name]))
}

/** A report on an address. */
export function ipReport(target: string, results = answers(), changes: Partial<IpReport> = {}): IpReport {
  const geo = { country: 'Germany', city: 'Falkenstein', isp: 'Example Hosting GmbH', asn: 'AS64500' }
  const verdict = ipVerdictText(target, results)
  return { targetType: 'ip', target, checkedAt, verdict, geo, results, ...countResults(results), ...changes }
}

/** A report on a domain. */
export function domainReport(
  target: string,
  ipReports: readonly IpReport[],
  changes: Partial<DomainReport> = {},
): DomainReport {
  const results = changes.results ?? [answer('SURBL'), answer('URIBL')]
  const report = {
    targetType: 'domain',
    target,
    checkedAt,
    results,
    ipReports,
    resolvedIps: ipReports.map((report) => report.target),
    resolutionFailed: false,
    resolvedIpsTruncated: false,
    ...sumCounts([countResults(results), ...ipReports]),
    ...changes,
  } as const
  return { ...report, verdict: domainVerdictText(report) }
}
