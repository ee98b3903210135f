import { isIP } from 'node:net'
import { type Command, EXIT, Failure, type Service } from './command.ts'
import { jsonText, paint, printable } from './paint.ts'

interface Result {
  readonly name: string
  readonly listed: boolean
  readonly policy: boolean
  readonly error: string | null
  readonly response: string | null
  readonly delistUrl: string
}

interface Report {
  readonly target: string
  readonly checkedAt: string
  readonly totalChecked: number
  readonly listedCount: number
  readonly policyCount: number
  readonly failedCount: number
  readonly verdict: string
  readonly results: readonly Result[]
  readonly ipReports?: readonly Report[]
}

/** The refusal of a target. */
interface Refusal {
  readonly target: string
  readonly error: { readonly code: string; readonly message: string }
}

const FIELDS = `target checkedAt totalChecked listedCount policyCount failedCount verdict
  results { name listed policy error response delistUrl }`
const FAILURE = '... on Error { code message }'
const QUERIES = {
  ip: `query Check($target: String!) { report: checkIp(target: $target) { ... on IpReport { ${FIELDS} } ${FAILURE} } }`,
  domain: `query Check($target: String!) {
    report: checkDomain(target: $target) { ... on DomainReport { ${FIELDS} ipReports { ${FIELDS} } } ${FAILURE} }
  }`,
}
/** The number of checks run in parallel. */
const AT_ONCE = 4

/** Checks targets on the blacklists. */
export const check: Command = {
  usage: 'TARGET…',
  summary: 'Check addresses and domains on DNS blacklists',
  examples: ['allclear check 203.0.113.7 example.com', 'allclear check 203.0.113.7 --json'],
  exitCodes: { 0: 'all targets are clean', 2: 'a target is listed', 3: 'some lists did not answer' },
  async run({ words, json }, terminal, service) {
    if (words.length === 0)
      throw new Failure('Give at least one address or domain: allclear check 203.0.113.7 example.com')
    const { client } = await service()
    const outcomes: (Report | Refusal)[] = []
    for (let first = 0; first < words.length; first += AT_ONCE) {
      const batch = words.slice(first, first + AT_ONCE).map((target) => checkOne(client, target, terminal.signal))
      for (const outcome of await Promise.all(batch)) {
        outcomes.push(outcome)
        if (!json) for (const line of linesOf(outcome)) terminal.result(line)
      }
    }
    if (json) terminal.result(jsonText(outcomes, 2))
    return Math.max(...outcomes.map(exitCodeOf))

    function linesOf(outcome: Report | Refusal): string[] {
      const target = paint(terminal, 'bold', printable(outcome.target))
      if ('error' in outcome) return [`${target}  ${paint(terminal, 'red', printable(outcome.error.message))}`]
      const colour = outcome.listedCount > outcome.policyCount ? 'red' : outcome.failedCount > 0 ? 'yellow' : 'green'
      return [`${target}  ${paint(terminal, colour, printable(outcome.verdict))}`, ...details(outcome)]
    }

    function details({ results, ipReports = [] }: Report): string[] {
      return [
        ...results.filter(({ listed, error }) => listed || error !== null).map(detail),
        ...ipReports.flatMap((report) => linesOf(report).map((line) => `  ${line}`)),
      ]
    }

    function detail({ name, listed, response, error, delistUrl }: Result): string {
      if (!listed) return `  ${name}: ${paint(terminal, 'yellow', `no usable answer (${error?.toLowerCase()})`)}`
      return `  ${name}: ${paint(terminal, 'red', 'listed')} ${printable(response ?? '')} ${delistUrl}`
    }
  },
}

async function checkOne(client: Service['client'], target: string, signal: AbortSignal): Promise<Report | Refusal> {
  const query = isIP(target) === 0 ? QUERIES.domain : QUERIES.ip
  type Answer = Report | { readonly code: string; readonly message: string }
  const { report } = await client.request<{ report: Answer }>(query, { target }, signal)
  return 'code' in report ? { target, error: { code: report.code, message: report.message } } : report
}

function exitCodeOf(outcome: Report | Refusal): number {
  if ('error' in outcome) return EXIT.failed
  const reports = [outcome, ...(outcome.ipReports ?? [])]
  if (reports.some(({ listedCount }) => listedCount > 0)) return EXIT.bad
  return outcome.failedCount > 0 ? EXIT.unknown : EXIT.ok
}
