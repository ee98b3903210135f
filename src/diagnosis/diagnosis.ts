import type { Logger } from 'pino'
import type { Checker } from '../blacklist/checker.ts'
import { withDeadline } from '../core/concurrency/deadline.ts'
import type { Config } from '../core/config.ts'
import type { RequestRoute } from '../core/request-route.ts'
import type { Clock } from '../core/time.ts'
import { SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { reasonOf } from '../network/reason.ts'
import { examineClock, timeOfHeader } from './clock.ts'
import { examineDatabase } from './database.ts'
import { examineDisk } from './disk.ts'
import type { Finding } from './finding.ts'
import { found, worstFirst } from './finding.ts'
import { examineLists, listStates } from './lists.ts'
import { examineMail } from './mail.ts'
import type { PrivateTargetState } from './private-targets.ts'
import { examinePrivateTargets } from './private-targets.ts'
import { readinessFindings } from './readiness.ts'
import { examineAddress, examineProxy } from './route.ts'
import { examineWebsocket } from './websocket.ts'

/** How long findings are cached, in milliseconds. Mail servers ban clients that log in too often. */
const MAX_AGE_MS = 15 * SECOND
/** The time limit of one part, in milliseconds. */
const PART_DEADLINE_MS = 12 * SECOND
/** The timeout of the request for internet time, in milliseconds. */
const TIME_TIMEOUT_MS = 4 * SECOND

/** Examines the service that it runs in. */
export interface Diagnosis {
  /**
   * Returns all findings, the worst first. Those that do not depend on `route` may be 15 seconds old.
   * @param route the route of the operator’s request, to examine proxies; null: unknown.
   */
  examine(route: RequestRoute | null): Promise<Finding[]>
}

interface Parts {
  readonly config: Pick<
    Config,
    'SMTP_URL' | 'DNS_SERVERS' | 'DATABASE_CONNECTIONS' | 'DATA_DIR' | 'TRUST_PROXY' | 'RDAP_BOOTSTRAP_URL' | 'SIGNUP'
  >
  readonly database: Pick<DatabaseHandle, 'pool' | 'kind'>
  readonly checker: Checker
  /** Returns what the mail server said when it last refused our email, if it still does; null: nothing. */
  readonly readMailRefusal: () => Promise<string | null>
  /** Returns who may reach private networks. */
  readonly readPrivateTargets: () => Promise<PrivateTargetState>
  /** Returns the states of all parts, as `/readyz` does. */
  readonly readiness: () => Promise<{ readonly checks: Readonly<Record<string, string>> }>
  /** Pass the original object, because its address may be set only once the server listens. */
  readonly site: { readonly baseUrl: string }
  readonly now: Clock
  readonly log: Logger
}

/** Parts of `/readyz` that this module examines in more detail. */
const EXAMINED = new Set(['database', 'mail', 'resolver', 'lists'])

/** Creates the diagnosis of a running service. It examines nothing until called. */
export function createDiagnosis(parts: Parts): Diagnosis {
  const { config, checker, readiness, site, now, log } = parts
  let latest: Promise<Finding[]> | null = null
  let startedAt = Number.NEGATIVE_INFINITY

  async function part(name: string, examine: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
    try {
      return await withDeadline(PART_DEADLINE_MS, 'It', examine())
    } catch (error) {
      if (name === 'database') return [found('DATABASE_UNREACHABLE', { reason: reasonOf(error) })]
      log.warn({ err: error }, `diagnosis: the examination of ${name} failed`)
      return [found('EXAMINATION_FAILED', { part: name, reason: reasonOf(error) })]
    }
  }

  async function examineAll(): Promise<Finding[]> {
    const { pool, kind } = parts.database
    const all = await Promise.all([
      part('service', async () =>
        readinessFindings((await readiness()).checks).filter(
          ({ severity, subject }) => !EXAMINED.has(subject) || (severity !== 'ok' && subject !== 'lists'),
        ),
      ),
      part('database', () =>
        examineDatabase(pool, now, kind === 'embedded' ? 'embedded' : { connections: config.DATABASE_CONNECTIONS }),
      ),
      part('mail', async () => [await examineMail(config.SMTP_URL, parts.readMailRefusal)]),
      part('lists', async () => [examineLists(listStates(checker), config.DNS_SERVERS)]),
      part('private targets', async () => [
        examinePrivateTargets(await parts.readPrivateTargets(), config.SIGNUP === 'open'),
      ]),
      part('disk', async () => present(await examineDisk(config.DATA_DIR))),
      part('clock', async () => present(await examineInternetTime(config.RDAP_BOOTSTRAP_URL, now))),
      part('websocket', async () => [await examineWebsocket(site.baseUrl)]),
    ])
    return withoutRepetition(all.flat())
  }

  return {
    async examine(route) {
      if (latest === null || performance.now() - startedAt > MAX_AGE_MS) {
        startedAt = performance.now()
        latest = examineAll()
      }
      const own = await latest
      if (route === null) return worstFirst(own)
      return worstFirst([examineProxy(route, config.TRUST_PROXY), examineAddress(site.baseUrl, route), ...own])
    },
  }
}

/** Compares the clock with the Date header of the RDAP host. Null if that does not answer. */
async function examineInternetTime(url: string, now: Clock): Promise<Finding | null> {
  const before = now()
  const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(TIME_TIMEOUT_MS) }).catch(() => null)
  const other = timeOfHeader(answer?.headers.get('date') ?? null)
  return other && examineClock({ before, after: now(), other, than: `that of ${new URL(url).host}` })
}

const present = (finding: Finding | null) => (finding === null ? [] : [finding])

/** Removes duplicates, as two parts may find the same problem, such as missing mail settings. */
function withoutRepetition(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>()
  return findings.filter(({ code, subject, message }) => {
    const key = `${code} ${subject} ${message}`
    return !seen.has(key) && seen.add(key)
  })
}
