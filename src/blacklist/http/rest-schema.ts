import { z } from 'zod'
import type { BulkItem } from '../check.ts'
import { MAX_TARGETS } from '../check.ts'
import type { BlacklistResult, Counts, DomainReport, IpReport, Report } from '../check-report.ts'
import { listErrors } from '../check-report.ts'

/**
 * The schemas of the blacklist REST API. They validate requests, type responses and generate `/openapi.json`. The names
 * come from the specification (§2), except the additions `policy`, `codes`, `error`, `note`, `policy_count` and
 * `failed_count`.
 */
const resultJson = z
  .object({
    name: z.string().meta({ description: 'Display name of the blacklist.', example: 'Spamhaus ZEN' }),
    listed: z.boolean().meta({ description: 'True if the list lists the target.' }),
    policy: z.literal(true).optional().meta({
      description:
        'Present on a policy entry (PBL): the address should not send mail directly. It does not report abuse.',
    }),
    response: z.string().nullable().meta({ description: 'The blacklist’s answer; null when not listed.' }),
    description: z.string().meta({ description: 'The purpose of the blacklist.' }),
    delist_url: z.url().meta({ description: 'The page for contesting a listing.' }),
    codes: z.array(z.string()).meta({ description: 'The raw A answers.', example: ['127.0.0.2'] }),
    error: z.enum(listErrors).optional().meta({
      description:
        'Why the list gave no usable answer; absent if it gave one. Such a list neither lists nor clears the target.',
    }),
    note: z.string().optional().meta({ description: 'An explanation of the answer.' }),
  })
  .meta({ id: 'BlacklistResult', description: 'One blacklist’s answer.' })

const counts = {
  checked_at: z.iso.datetime().meta({ description: 'When the check ran, UTC.' }),
  total_checked: z.int().meta({ description: 'Number of blacklists queried.' }),
  listed_count: z.int().meta({ description: 'Number of blacklists that list the target.' }),
  policy_count: z.int().optional().meta({
    description: 'The number of policy entries in listed_count, which do not report abuse. Absent if there are none.',
  }),
  clean_count: z.int().meta({
    description: 'Number of blacklists that do not list the target; listed_count + clean_count = total_checked.',
  }),
  failed_count: z.int().meta({ description: 'The number of blacklists in clean_count without a usable answer.' }),
  verdict: z.string().meta({ description: 'A summary of the report.' }),
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
        loading: z.literal(true).optional().meta({
          description:
            'Present only while data for null parts is loading, for example in the first seconds after a first start. Retry later.',
        }),
      })
      .meta({ id: 'Geo', description: 'Approximate. IP Geolocation by DB-IP (https://db-ip.com), CC BY 4.0.' }),
    results: z.array(resultJson),
  })
  .meta({ id: 'IpReport' })

export const domainReportJson = z
  .object({
    target: z.string().meta({ example: 'example.com' }),
    target_type: z.literal('domain'),
    ...counts,
    results: z.array(resultJson).meta({ description: 'The answers of the domain lists.' }),
    resolved_ips: z.array(z.string()).meta({ description: 'Every resolved address, including private ones.' }),
    resolved_ips_truncated: z.boolean().meta({ description: 'True if the check did not cover all addresses.' }),
    resolution_failed: z.boolean().meta({ description: 'True if addresses may be missing.' }),
    ip_reports: z.array(ipReportJson).meta({ description: 'One report per checked address, at most 8.' }),
  })
  .meta({ id: 'DomainReport' })

const targetErrorJson = z
  .object({ target: z.string(), error: z.object({ code: z.string(), message: z.string() }) })
  .meta({ id: 'TargetError', description: 'A target that is neither an IP address nor a domain.' })

export const bulkJson = z.array(z.union([ipReportJson, domainReportJson, targetErrorJson]))

/** Validates the types only. Targets are parsed separately, so that an invalid one does not affect the others. */
export const bulkRequest = z
  .object({
    targets: z.array(z.string()).meta({
      description: `IP addresses and domains, at most ${MAX_TARGETS}.`,
      override: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_TARGETS },
    }),
    api_key: z
      .string()
      .optional()
      .meta({ description: 'An API key with the pro plan. You can also send it in a header.' }),
  })
  .meta({ id: 'BulkRequest' })

export const checkQuery = z.object({
  target: z.string().meta({ description: 'The IP address or domain to check.', example: '192.0.2.7' }),
  api_key: z.string().optional().meta({ description: 'An API key. Prefer a header: URLs end up in logs.' }),
})

type ResultJson = z.infer<typeof resultJson>
type IpReportJson = z.infer<typeof ipReportJson>
type DomainReportJson = z.infer<typeof domainReportJson>

/** Converts a report to its REST form. */
function reportToJson(report: Report): IpReportJson | DomainReportJson {
  return report.targetType === 'ip' ? ipReportToJson(report) : domainReportToJson(report)
}

/** A cache of serialized reports, for reports that are sent more than once. */
const serializedReports = new WeakMap<Report, Buffer>()

/** Serializes a report to JSON in UTF-8. */
export function reportBytes(report: Report): Buffer {
  const bytes = serializedReports.get(report) ?? Buffer.from(JSON.stringify(reportToJson(report)))
  serializedReports.set(report, bytes)
  return bytes
}

/** Converts one item of a bulk check to its REST form. */
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
