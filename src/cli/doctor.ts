import { parseUrl } from '../core/url.ts'
import { examineClock, timeOfHeader } from '../diagnosis/clock.ts'
import type { Finding, Severity } from '../diagnosis/finding.ts'
import { found } from '../diagnosis/finding.ts'
import { examineLists } from '../diagnosis/lists.ts'
import { readinessFindings } from '../diagnosis/readiness.ts'
import { compareAddresses } from '../diagnosis/route.ts'
import { examineWebsocket } from '../diagnosis/websocket.ts'
import { reasonOf } from '../network/reason.ts'
import { type Command, EXIT, type Service, type Terminal } from './command.ts'
import { type Colour, jsonText, paint, printable } from './paint.ts'
import { loadProgram } from './program.ts'

/** The timeout of one request, in milliseconds. */
const TIMEOUT_MS = 5000

/** Examines a service and its environment. */
export const doctor: Command = {
  usage: '',
  summary: 'Examine a service, its proxy, clock, database, resolver, mail and disk',
  details: `With the operator’s token as the key, the service examines its proxy, database, mail, resolver and disk itself.
Without it, run this command on the machine of the service, with its settings in the environment.
Each finding has a stable code and a fix; /docs/health lists them.`,
  examples: ['allclear doctor', 'ALLCLEAR_KEY=$ADMIN_TOKEN allclear doctor --url https://status.example.com --json'],
  exitCodes: { 0: 'no problems', 2: 'problems found' },
  async run({ json }, terminal, service) {
    const { url, client } = await service()
    const findings = await examine(url.replace(/(?<!\/)\/+$/, ''), client, terminal)
    if (json) terminal.result(jsonText(findings, 2))
    else for (const finding of findings) for (const line of linesOf(finding, terminal)) terminal.result(line)
    return findings.some(({ severity }) => severity !== 'ok') ? EXIT.bad : EXIT.ok
  },
}

function linesOf({ subject, severity, message, fix }: Finding, terminal: Terminal): string[] {
  const colours: Readonly<Record<Severity, Colour>> = { ok: 'green', warning: 'yellow', error: 'red' }
  const line = `${paint(terminal, colours[severity], severity.padEnd(7))}  ${subject.padEnd(9)}  ${printable(message)}`
  return fix === null ? [line] : [line, `${' '.repeat(20)}→ ${printable(fix)}`]
}

/**
 * Combines the findings from this machine with the service's own findings. Without the operator's token, examines the settings of
 * this machine instead.
 */
async function examine(url: string, client: Service['client'], terminal: Terminal): Promise<Finding[]> {
  const { env, now } = terminal
  const local = async () => (await loadProgram()).examineSettings(env, now)
  const before = now()
  let health: Response
  try {
    health = await get(`${url}/healthz`)
  } catch (error) {
    return [found('SERVICE_UNREACHABLE', { url, reason: reasonOf(error) }), ...(await local())]
  }
  const after = now()
  if (!health.ok) return [found('SERVICE_REFUSED', { url, status: health.status }), ...(await local())]
  const other = timeOfHeader(health.headers.get('date'))
  const outside = [
    found('SERVICE_OK', { url }),
    ...(other === null ? [] : [examineClock({ before, after, other, than: 'this machine’s' })]),
    await ownAddress(url),
    await examineWebsocket(url),
  ]
  const own = await ownFindings(client)
  if (own !== null) return [...outside, ...without(own, outside)]
  const [settings, parts, lists] = await Promise.all([local(), readiness(url), listsOf(client)])
  // Problems that the service reports count, regardless of the settings here.
  const others = [...lists, ...without(parts, lists)]
  return [...outside, ...settings, ...without(others, settings, ({ severity }) => severity === 'ok')]
}

/** Removes the findings that match `which` and whose subject others cover too. */
function without(
  findings: readonly Finding[],
  others: readonly Finding[],
  which: (finding: Finding) => boolean = () => true,
): Finding[] {
  const subjects = new Set(others.map(({ subject }) => subject))
  return findings.filter((finding) => !(subjects.has(finding.subject) && which(finding)))
}

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' })

/** Asks the service to examine itself. Null if the key is not the operator’s. */
async function ownFindings(client: Service['client']): Promise<Finding[] | null> {
  type Answered = Omit<Finding, 'severity'> & { readonly severity: Uppercase<Severity> }
  const query = 'query Diagnosis { diagnosis { code subject severity message fix } }'
  const answer = await client.request<{ diagnosis: readonly Answered[] }>(query).catch(() => null)
  const severities = { OK: 'ok', WARNING: 'warning', ERROR: 'error' } as const
  return answer?.diagnosis.map((finding) => ({ ...finding, severity: severities[finding.severity] })) ?? null
}

async function readiness(url: string): Promise<Finding[]> {
  const answer = await get(`${url}/readyz`).catch(() => null)
  if (answer === null || answer.status === 404) return []
  const { checks } = (await answer.json().catch(() => ({}))) as { checks?: Record<string, string> }
  return readinessFindings(checks ?? {})
}

async function ownAddress(url: string): Promise<Finding> {
  const answer = await get(`${url}/openapi.json`).catch(() => null)
  const document = answer?.ok ? ((await answer.json().catch(() => ({}))) as { servers?: { url: string }[] }) : {}
  const known = parseUrl(document.servers?.[0]?.url ?? '')
  return known === null ? found('ADDRESS_OK', { url }) : compareAddresses(known, new URL(url))
}

/** Asks the service for the health of its lists. */
async function listsOf(client: Service['client']): Promise<Finding[]> {
  interface Blacklist {
    readonly name: string
    readonly health: { readonly status: string }
  }
  const query = 'query Lists { blacklists { name health { status } } }'
  const answer = await client.request<{ blacklists: readonly Blacklist[] }>(query).catch(() => null)
  if (answer === null) return []
  const states = answer.blacklists.map(({ name, health }) => ({ name, status: health.status.toLowerCase() }))
  return [examineLists(states, null)]
}
