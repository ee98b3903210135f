import { CheckForm } from '../../http/page/check-form.tsx'
import type { HealthStatus } from '../list-health.ts'
import { OperatorHint } from './operator-hint.tsx'
import { checkPath } from './report.tsx'

/** A list as the landing page shows it. */
export interface ListInfo {
  readonly name: string
  /** The purpose of the list, in one sentence. */
  readonly description: string
  readonly health: HealthStatus
}

/** The lists by kind of target. */
export interface ListInfos {
  readonly ip: readonly ListInfo[]
  readonly domain: readonly ListInfo[]
}

export interface LandingProps {
  readonly baseUrl: string
  /** The visitor's address; null: it cannot be checked, because it is private, for example. */
  readonly ownAddress: string | null
  readonly lists: ListInfos
  /** The DNS resolvers in use, for an operator; null for visitors. */
  readonly resolvers: readonly string[] | null
  readonly checksPerDay: { readonly free: number; readonly pro: number }
  readonly isSignUpOpen: boolean
}

/** Renders the page at `/`. */
export function Landing({ baseUrl, ownAddress, lists, resolvers, checksPerDay, isSignUpOpen }: LandingProps) {
  const silence = isNoListUsable(lists)
  const shown = silence && resolvers === null ? withoutHealth(lists) : lists
  return (
    <>
      <section class="hero">
        <h1>Status pages with monitoring, and blacklist checks</h1>
        <p class="lead">
          Allclear probes your services, shows every change within a second, and notifies the people who rely on you.
        </p>
        <div class="doors">
          <StatusPages isSignUpOpen={isSignUpOpen} />
          <section class="door">
            <h2>Check a blacklist</h2>
            <p>
              Check an IP address or a domain on {lists.ip.length + lists.domain.length} DNS blacklists. See each
              answer, the reason, and where to contest a listing.
            </p>
            <CheckForm />
            {ownAddress === null ? null : (
              <p class="own">
                Check your own address:{' '}
                <a href={checkPath(ownAddress)} rel="nofollow">
                  {ownAddress}
                </a>
              </p>
            )}
          </section>
        </div>
      </section>
      {silence ? <NoListUsableNotice resolvers={resolvers} /> : null}
      <section>
        <h2>IP address lists</h2>
        <ListTable lists={shown.ip} />
      </section>
      <section>
        <h2>Domain lists</h2>
        <p>A domain check also resolves the domain and checks each address.</p>
        <ListTable lists={shown.domain} />
      </section>
      <Examples baseUrl={baseUrl} />
      <section>
        <h2>Limits of checks</h2>
        <p>
          You get {checksPerDay.free} free checks a day without an account. They count per IP address and reset at
          midnight UTC. A pro key gets {checksPerDay.pro.toLocaleString('en')} a day, and can check up to 20 targets in
          one request. Rejected requests don’t count.
        </p>
      </section>
    </>
  )
}

function StatusPages({ isSignUpOpen }: Pick<LandingProps, 'isSignUpOpen'>) {
  return (
    <section class="door">
      <h2>Publish a status page</h2>
      <p>
        Show uptime, incidents and maintenance on your own page, at your own domain. People subscribe by mail, webhook,
        chat, feed or calendar.
      </p>
      <p class="actions">
        <a class="button" href="/console">
          Sign in
        </a>
        {isSignUpOpen ? <a href="/sign-up">Create an account</a> : null}
        <a href="/docs/getting-started">How it works</a>
      </p>
      <p class="own">
        <a href="/status">Find a status page</a>
      </p>
    </section>
  )
}

/** Returns whether no list is usable. */
function isNoListUsable({ ip, domain }: ListInfos): boolean {
  return [...ip, ...domain].every(({ health }) => health !== 'ok' && health !== 'unknown')
}

/** Hides the health of all lists. Visitors could not fix it. */
function withoutHealth({ ip, domain }: ListInfos): ListInfos {
  const unknown = (list: ListInfo): ListInfo => ({ ...list, health: 'unknown' })
  return { ip: ip.map(unknown), domain: domain.map(unknown) }
}

function NoListUsableNotice({ resolvers }: Pick<LandingProps, 'resolvers'>) {
  if (resolvers !== null) return <OperatorHint resolvers={resolvers} />
  return <p class="note">The lists are not answering right now. Try again in a few minutes.</p>
}

const healthLabels: Readonly<Record<Exclude<HealthStatus, 'unknown' | 'ok'>, string>> = {
  silent: 'Not answering',
  refusing: 'Refusing our queries',
  wildcard: 'Unreliable answers',
  unreachable: 'Unreachable',
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
      {healthLabels[status]}
    </span>
  )
}

function Examples({ baseUrl }: { readonly baseUrl: string }) {
  const socket = baseUrl.replace(/^http/, 'ws')
  return (
    <section>
      <h2>Checks by API</h2>
      <h3>REST</h3>
      <pre>
        <code>{`curl '${baseUrl}/api/blacklist-monitor/ip?target=203.0.113.7'`}</code>
      </pre>
      <h3>GraphQL</h3>
      <pre>
        <code>{`curl ${baseUrl}/graphql -H 'content-type: application/json' \\
  -d '{"query": "{ checkIp(target: \\"203.0.113.7\\") { ... on IpReport { verdict } } }"}'`}</code>
      </pre>
      <h3>WebSocket: each answer as it arrives</h3>
      <pre>
        <code>{`npx wscat -s graphql-transport-ws -c ${socket}/graphql
> {"type": "connection_init"}
> {"id": "1", "type": "subscribe", "payload": {"query": "subscription { checkProgress(target: \\"203.0.113.7\\") { ... on ListAnswered { result { name listed } } ... on IpReport { verdict } } }"}}`}</code>
      </pre>
      <p>
        See the <a href="/docs">documentation</a>, the <a href="/docs/reference">API reference</a> and{' '}
        <a href="/graphql">GraphiQL</a>.
      </p>
    </section>
  )
}
