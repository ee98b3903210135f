import { createOrganization } from '../../src/account/organization/organization.ts'
import type { App } from '../../src/app/start.ts'
import { transaction } from '../../src/core/context.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import type { Organization } from '../../src/generated/prisma/client.ts'
import type { Role } from '../../src/generated/prisma/enums.ts'
import { insertMembership } from '../../src/people/membership.ts'
import { startSession } from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { testApp } from './app.ts'
import { testContext } from './context.ts'
import { testDatabase } from './database.ts'
import { startDnsServer } from './dns-server.ts'

/** A page as a browser without scripts receives it. */
export interface ConsolePage {
  readonly status: number
  /** Its redirect; null: none. */
  readonly location: string | null
  readonly html: string
  readonly headers: Headers
}

/** A browser with a signed-in person. Paths begin with a slash, or are relative to the organization's console. */
export interface Browser {
  /** The session's token. */
  readonly token: string
  readonly userId: string
  /** @param headers besides those of the session; a cookie is added to its cookie. */
  get(path: string, headers?: Record<string, string>): Promise<ConsolePage>
  /** Sends a form. @param headers replace those of a browser on our own page. */
  post(
    path: string,
    fields: Record<string, string | readonly string[]> | FormData,
    headers?: Record<string, string>,
  ): Promise<ConsolePage>
  /** Runs an operation of the API as the person, as GraphiQL does. */
  graphql(
    query: string,
    variables?: object,
  ): Promise<{ data?: Record<string, unknown>; errors?: { message: string; extensions: { code: string } }[] }>
}

let people = 0

/** A service with its console, and organizations whose members can sign in. */
export async function testConsole(settings: NodeJS.ProcessEnv = {}) {
  const database = await testDatabase()
  const dns = await startDnsServer()
  const app: App = await testApp({
    dns,
    database,
    settings: { ALLOW_PRIVATE_NETWORKS: 'true', DEFAULT_TIER: 'team', ...settings },
  })
  return {
    app,
    database,
    organization: (slug: string) => organizationWithPeople(app, database, slug),
    /** Signs in a new member of an organization, or a stranger, with paths relative to its console. */
    signIn: (organization: Owned, role: Role | null, about: About = {}) =>
      signIn(app, database, organization, role, about),
  }
}

type Owned = Pick<Organization, 'id' | 'slug'>
interface About {
  readonly isOperator?: boolean
}

/** Creates an organization. Its `signIn` signs in a new member with a role, or a stranger. */
async function organizationWithPeople(app: App, database: Pick<DatabaseHandle, 'prisma'>, slug: string) {
  const input = { name: `The ${slug}`, slug, contactEmail: `${slug}@example.com` }
  const { organization, apiKey } = await createOrganization(operatorOf(database), input)
  return {
    organization,
    key: apiKey.secret,
    /** @param role null: not a member. */
    signIn: (role: Role | null, about: About = {}) => signIn(app, database, organization, role, about),
  }
}

const operatorOf = ({ prisma }: Pick<DatabaseHandle, 'prisma'>) =>
  testContext(prisma, { actor: { kind: 'operator' }, now: () => new Date() })

async function signIn(
  app: App,
  database: Pick<DatabaseHandle, 'prisma'>,
  { id: organizationId, slug }: Owned,
  role: Role | null,
  about: About,
): Promise<Browser> {
  const name = `Person ${++people}`
  const email = `person-${people}@example.com`
  return transaction(operatorOf(database), async (tx) => {
    const user = await insertUser(tx, 'MAILED_SIGN_UP_LINK', { email, name, passwordHash: null, ...about })
    if (role) await insertMembership(tx, { organizationId, userId: user.id, role }, name)
    return { userId: user.id, token: await startSession(tx, user.id, 'a browser of the tests') }
  }).then(({ userId, token }) => browser(app.baseUrl, slug, userId, token))
}

function browser(baseUrl: string, slug: string, userId: string, token: string): Browser {
  const cookie = `allclear_session=${token}`
  const addressOf = (path: string) => `${baseUrl}${path.startsWith('/') ? path : `/console/${slug}/${path}`}`
  const own = { cookie, 'sec-fetch-site': 'same-origin' }
  return {
    token,
    userId,
    get: async (path, { cookie: more, ...headers } = {}) => {
      const cookies = more === undefined ? cookie : `${cookie}; ${more}`
      const request = { headers: { ...headers, cookie: cookies, accept: 'text/html' }, redirect: 'manual' } as const
      return pageOf(await fetch(addressOf(path), request))
    },
    post: async (path, fields, headers = own) => {
      const body = fields instanceof FormData ? fields : new URLSearchParams(pairsOf(fields))
      const request = {
        method: 'POST',
        body,
        headers: { accept: 'text/html', ...headers },
        redirect: 'manual',
      } as const
      return pageOf(await fetch(addressOf(path), request))
    },
    graphql: async (query, variables = {}) => {
      const headers = { ...own, 'content-type': 'application/json' }
      const response = await fetch(`${baseUrl}/graphql`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query, variables }),
      })
      return response.json()
    },
  }
}

const pairsOf = (fields: Record<string, string | readonly string[]>) =>
  Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, each]))

async function pageOf(response: Response): Promise<ConsolePage> {
  const { status, headers } = response
  return { status, location: headers.get('location'), html: await response.text(), headers }
}
