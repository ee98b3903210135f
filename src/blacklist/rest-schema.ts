import { z } from 'zod'
import type { BulkItem } from './check.ts'
import { MOST_TARGETS } from './check.ts'
import type { BlacklistResult, Counts, DomainReport, IpReport, Report } from './report.ts'
import { listErrors } from './report.ts'

/**
 * The shapes of the blacklist REST API: what a request is validated with, what an answer is typed with, and what
 * `/openapi.json` is made from. Names are the specification's (§2); `policy`, `codes`, `error`, `note`, `policy_count` and `failed_count` are added.
 */
const result = z
  .object({
    name: z.string().meta({ description: 'Display name of the blacklist.', example: 'Spamhaus ZEN' }),
    listed: z.boolean().meta({ description: 'True when the target is listed.' }),
    policy: z.literal(true).optional().meta({
      description: 'Present on a listing that accuses nobody: mail should not come from the address directly (PBL).',
    }),
    response: z.string().nullable().meta({ description: 'The blacklist’s answer; null when not listed.' }),
    description: z.string().meta({ description: 'What the blacklist is used for.' }),
    delist_url: z.url().meta({ description: 'Where a listing can be contested.' }),
    codes: z.array(z.string()).meta({ description: 'The raw A answers.', example: ['127.0.0.2'] }),
    error: z.enum(listErrors).optional().meta({
      description: 'Present when the list gave no usable answer: it has neither listed nor cleared the target.',
    }),
    note: z.string().optional().meta({ description: 'What else a reader should know.' }),
  })
  .meta({ id: 'BlacklistResult', description: 'What one blacklist said. Added: policy, codes, error, note.' })

const counts = {
  checked_at: z.iso.datetime().meta({ description: 'When the check ran, UTC.' }),
  total_checked: z.int().meta({ description: 'Number of blacklists queried.' }),
  listed_count: z.int().meta({ description: 'Number of blacklists that list the target.' }),
  policy_count: z.int().optional().meta({
    description: 'How many of listed_count are entries of policy, which accuse nobody; absent: none.',
  }),
  clean_count: z.int().meta({ description: 'Number that do not; listed_count + clean_count = total_checked.' }),
  failed_count: z.int().meta({ description: 'How many of clean_count gave no usable answer.' }),
  verdict: z.string().meta({ description: 'Summary sentence.' }),
}

export const ipReportJson = z
  .object({
    target: z.string().meta({ example: '192.0.2.7' }),
    target_type: z.literal('ip'),
    ...counts,
    geo: z
      .object({
        country: z.string().nullable(),
        city: z.string().nullable(),
        isp: z.string().nullable(),
        asn: z.string().nullable().meta({ example: 'AS64500' }),
      })
      .meta({ id: 'Geo', description: 'Approximate. IP Geolocation by DB-IP (https://db-ip.com), CC BY 4.0.' }),
    results: z.array(result),
  })
  .meta({ id: 'IpReport' })

export const domainReportJson = z
  .object({
    target: z.string().meta({ example: 'example.com' }),
    target_type: z.literal('domain'),
    ...counts,
    results: z.array(result).meta({ description: 'What the domain lists said.' }),
    resolved_ips: z.array(z.string()).meta({ description: 'Every address found, private ones included.' }),
    resolved_ips_truncated: z.boolean().meta({ description: 'True when not all were checked.' }),
    resolution_failed: z.boolean().meta({ description: 'True when addresses may be missing.' }),
    ip_reports: z.array(ipReportJson).meta({ description: 'One report per checked address, at most 8.' }),
  })
  .meta({ id: 'DomainReport' })

const targetErrorJson = z
  .object({ target: z.string(), error: z.object({ code: z.string(), message: z.string() }) })
  .meta({ id: 'TargetError', description: 'A target that is no address and no domain.' })

export const bulkJson = z.array(z.union([ipReportJson, domainReportJson, targetErrorJson]))

/** What targets say is judged one by one, so that one bad target does not fail the rest. */
export const bulkRequest = z
  .object({
    targets: z.array(z.string()).meta({
      description: `IP addresses and domains, at most ${MOST_TARGETS}.`,
      override: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MOST_TARGETS },
    }),
    api_key: z.string().optional().meta({ description: 'A key with the pro plan; or send it in a header.' }),
  })
  .meta({ id: 'BulkRequest' })

export const checkQuery = z.object({
  target: z.string().meta({ description: 'What to check.', example: '192.0.2.7' }),
  api_key: z.string().optional().meta({ description: 'An API key; a header is better, for addresses are logged.' }),
})

type ResultJson = z.infer<typeof result>
export type IpReportJson = z.infer<typeof ipReportJson>
export type DomainReportJson = z.infer<typeof domainReportJson>

/** A report as REST gives it. */
export function reportToJson(report: Report): IpReportJson | DomainReportJson {
  return report.targetType === 'ip' ? ipReportToJson(report) : domainReportToJson(report)
}

/** What was sent of reports, for those that are given more than once. */
const sent = new WeakMap<Report, Buffer>()

/** A report as REST sends it: JSON in UTF-8. */
export function reportBytes(report: Report): Buffer {
  const bytes = sent.get(report) ?? Buffer.from(JSON.stringify(reportToJson(report)))
  sent.set(report, bytes)
  return bytes
}

/** The answer to one target of a bulk check as REST gives it. */
export function bulkItemToJson(item: BulkItem): z.infer<typeof bulkJson>[number] {
  if (item.kind === 'report') return reportToJson(item.report)
  return { target: item.target, error: { code: item.code, message: item.message } }
}

function ipReportToJson(report: IpReport): IpReportJson {
  const { target, geo, results } = report
  return { target, target_type: 'ip', ...countsToJson(report), geo, results: results.map(resultToJson) }
}

function domainReportToJson(report: DomainReport): DomainReportJson {
  return {
    target: report.target,
    target_type: 'domain',
    ...countsToJson(report),
    results: report.results.map(resultToJson),
    resolved_ips: [...report.resolvedIps],
    resolved_ips_truncated: report.resolvedIpsTruncated,
    resolution_failed: report.resolutionFailed,
    ip_reports: report.ipReports.map(ipReportToJson),
  }
}

function countsToJson(report: Counts & { readonly checkedAt: Date; readonly verdict: string }) {
  return {
    checked_at: report.checkedAt.toISOString(),
    total_checked: report.totalChecked,
    listed_count: report.listedCount,
    ...(report.policyCount > 0 && { policy_count: report.policyCount }),
    clean_count: report.cleanCount,
    failed_count: report.failedCount,
    verdict: report.verdict,
  }
}

function resultToJson({
  name,
  listed,
  policy,
  response,
  description,
  delistUrl,
  codes,
  error,
  note,
}: BlacklistResult): ResultJson {
  return {
    name,
    listed,
    ...(policy && { policy }),
    response,
    description,
    delist_url: delistUrl,
    codes: [...codes],
    ...(error !== null && { error }),
    ...(note !== null && { note }),
  }
}
