import { CheckForm } from '../../http/check-form.tsx'
import type { HealthStatus } from '../health.ts'
import { OperatorHint } from './operator-hint.tsx'
import { checkPath } from './report.tsx'

/** A list as visitors see it. */
export interface ListInfo {
  readonly name: string
  /** What the list is used for; one sentence. */
  readonly description: string
  readonly health: HealthStatus
}

/** The lists asked, by the kind of target. */
export interface ListInfos {
  readonly ip: readonly ListInfo[]
  readonly domain: readonly ListInfo[]
}

export interface LandingProps {
  readonly baseUrl: string
  /** The caller's own address; null when it cannot be checked, such as a private one. */
  readonly ownAddress: string | null
  readonly lists: ListInfos
  /** What the lists are asked through, for a reader who can change that; else null. */
  readonly resolvers: readonly string[] | null
  readonly checksPerDay: { readonly free: number; readonly pro: number }
}

/** The page at `/`. */
export function Landing({ baseUrl, ownAddress, lists, resolvers, checksPerDay }: LandingProps) {
  const silence = isSilence(lists)
  const shown = silence && resolvers === null ? withoutHealth(lists) : lists
  return (
    <>
      <section class="hero">
        <h1>Find out whether an address or a domain is on a blacklist</h1>
        <p class="lead">
          Allclear asks {lists.ip.length + lists.domain.length} DNS blacklists about an IP address or a domain, and
          tells you what each one says, why, and where to contest it.
        </p>
        <CheckForm />
        {ownAddress === null ? null : (
          <p class="own">
            Check the address you come from:{' '}
            <a href={checkPath(ownAddress)} rel="nofollow">
              {ownAddress}
            </a>
          </p>
        )}
      </section>
      {silence ? <Silence resolvers={resolvers} /> : null}
      <section>
        <h2>Lists asked about an IP address</h2>
        <ListTable lists={shown.ip} />
      </section>
      <section>
        <h2>Lists asked about a domain</h2>
        <p>A domain’s addresses are looked up too, and each is checked like an address of its own.</p>
        <ListTable lists={shown.domain} />
      </section>
      <Examples baseUrl={baseUrl} />
      <section>
        <h2>What is counted</h2>
        <p>
          {checksPerDay.free} checks a day are free, without an account; they are counted by your address and start
          again at midnight UTC. A pro key has {checksPerDay.pro.toLocaleString('en')} a day, and checks up to 20
          targets in one request. A request that is refused costs nothing.
        </p>
      </section>
    </>
  )
}

/** Whether no list at all can be used at present. */
function isSilence({ ip, domain }: ListInfos): boolean {
  return [...ip, ...domain].every(({ health }) => health !== 'ok' && health !== 'unknown')
}

/** Eight faults in a row would only alarm a visitor, who can do nothing about them. */
function withoutHealth({ ip, domain }: ListInfos): ListInfos {
  const unknown = (list: ListInfo): ListInfo => ({ ...list, health: 'unknown' })
  return { ip: ip.map(unknown), domain: domain.map(unknown) }
}

function Silence({ resolvers }: Pick<LandingProps, 'resolvers'>) {
  if (resolvers !== null) return <OperatorHint resolvers={resolvers} />
  return <p class="note">The lists do not answer us at the moment. Please check again in a little while.</p>
}

const healthWords: Readonly<Record<Exclude<HealthStatus, 'unknown' | 'ok'>, string>> = {
  silent: 'Gives no answers',
  refusing: 'Refusing our queries',
  wildcard: 'Unreliable answers',
  unreachable: 'Not reachable',
}

function ListTable({ lists }: { readonly lists: readonly ListInfo[] }) {
  return (
    <dl class="asked">
      {lists.map(({ name, description, health }) => (
        <div>
          <dt>
            {name} <Health status={health} />
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  )
}

function Health({ status }: { readonly status: HealthStatus }) {
  if (status === 'unknown') return null
  if (status === 'ok') return <span class="health">Answering</span>
  return (
    <span class="health" data-ill>
      {healthWords[status]}
    </span>
  )
}

function Examples({ baseUrl }: { readonly baseUrl: string }) {
  const socket = baseUrl.replace(/^http/, 'ws')
  return (
    <section>
      <h2>The same by API</h2>
      <h3>REST</h3>
      <pre>
        <code>{`curl '${baseUrl}/api/blacklist-monitor/ip?target=203.0.113.7'`}</code>
      </pre>
      <h3>GraphQL</h3>
      <pre>
        <code>{`curl ${baseUrl}/graphql -H 'content-type: application/json' \\
  -d '{"query": "{ checkIp(target: \\"203.0.113.7\\") { ... on IpReport { verdict } } }"}'`}</code>
      </pre>
      <h3>Websocket, each answer as it comes</h3>
      <pre>
        <code>{`npx wscat -s graphql-transport-ws -c ${socket}/graphql
> {"type": "connection_init"}
> {"id": "1", "type": "subscribe", "payload": {"query": "subscription { checkProgress(target: \\"203.0.113.7\\") { ... on ListAnswered { result { name listed } } ... on IpReport { verdict } } }"}}`}</code>
      </pre>
      <p>
        The whole of it is in the <a href="/docs">API docs</a> and the <a href="/graphql">GraphQL explorer</a>.
      </p>
    </section>
  )
}
