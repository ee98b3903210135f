import type { Configuration, CustomFetchOptions, IDToken, UserInfoResponse } from 'openid-client'
import { z } from 'zod'
import { requireConfirmation } from '../../core/access.ts'
import type { Config } from '../../core/config.ts'
import { transaction } from '../../core/context.ts'
import { Conflict, Forbidden, Unauthenticated, Unavailable } from '../../core/errors.ts'
import { MINUTE } from '../../core/time.ts'
import { nameText } from '../../core/validation.ts'
import type { Identity, User } from '../../generated/prisma/client.ts'
import { enterAccount, lockOwnAccount, lockUnchanged, stateOf } from '../account-access.ts'
import { type Entry, outcomeOf } from '../account-entry.ts'
import { limitAttempts, limitRequests } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { knownDevice } from '../known-device.ts'
import { createToken, readToken, takeToken } from '../one-time-token.ts'
import { verifyPassword } from '../password.ts'
import { requireUser } from '../session.ts'
import { requireSetUp } from '../setup.ts'
import { insertUser, personEmail, userByEmail } from '../user.ts'
import type { SignIn } from './sign-in.ts'
import { completeSignIn } from './sign-in.ts'

/** How long a sign-in at the provider may take. */
export const OPENID_LIFETIME = 10 * MINUTE
/** The maximum size of an answer of the provider, in bytes. Sets of keys, the largest, have some kilobytes. */
const MAX_ANSWER = 256 * 1024
/** How long we wait for the provider, in seconds. */
const PROVIDER_TIMEOUT = 10

/** Returns the name of the provider; null: none is set up. */
export function openIdName({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_NAME }: Config): string | null {
  return OIDC_ISSUER !== undefined && OIDC_CLIENT_ID !== undefined ? OIDC_NAME : null
}

/** A sign-in in progress. */
const flow = z.object({
  kind: z.literal('flow'),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
})

/**
 * Starts a sign-in at the provider. Returns the address of its page, and the token that completes the sign-in, which the browser
 * stores in a cookie.
 * @param connect whether to add the person's account at the provider to the signed-in account here.
 * @throws Forbidden without a provider. @throws Unavailable when the provider does not answer.
 */
export async function startOpenId(
  ctx: PeopleContext,
  { redirectUri, to, connect }: { readonly redirectUri: string; readonly to: string; readonly connect: boolean },
): Promise<{ url: string; token: string }> {
  if (connect) requireConfirmation(ctx)
  const userId = connect ? requireUser(ctx).userId : null
  await limitRequests(ctx)
  const { client, provider } = await openProvider(ctx)
  const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const data = { kind: 'flow', state, nonce, verifier, to }
  return { url: url.href, token: await createToken(ctx, 'OPENID', { userId, data, lifetimeMs: OPENID_LIFETIME }) }
}

/** The result of the provider's answer. */
export type OpenIdResult =
  | { readonly kind: 'signIn'; readonly signIn: SignIn; readonly to: string }
  | { readonly kind: 'connected'; readonly to: string }
  /** An account here has the email address. The token and the account's password link the two. */
  | { readonly kind: 'link'; readonly token: string; readonly email: string; readonly to: string }

/**
 * Completes a sign-in at the provider. Issuer and subject identify the person, not the email address. If an account here has the
 * verified address of a new identity, its password is required to link them; otherwise anyone with that address at the provider
 * could take over our account. Addresses of the domains that the operator names (`OIDC_MAIL_DOMAINS`) are proven by the provider's
 * word: a person who has none gets an account, and an unproven one becomes theirs.
 * @param callback the address to which the provider redirected the browser.
 * @throws Unauthenticated when the answer is invalid. @throws Forbidden for a person who may not sign in.
 */
export async function finishOpenId(
  ctx: PeopleContext,
  { callback, token }: { readonly callback: URL; readonly token: string },
  userAgent: string,
): Promise<OpenIdResult> {
  const content = await takeToken(ctx, 'OPENID', token)
  const started = flow.safeParse(content?.data).data
  if (content === null || started === undefined) throw expired()
  const { to } = started
  const person = await askProvider(ctx, callback, started)
  const { issuer, subject } = person
  const identity = await ctx.db.identity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  })
  if (content.userId !== null) return connect(ctx, person, { identity, userId: content.userId, to }, userAgent)
  if (identity !== null)
    return { kind: 'signIn', signIn: await signInByIdentity(ctx, person, identity.user, userAgent), to }
  const known = person.email === null ? null : await userByEmail(ctx, person.email)
  if (known === null) {
    const user = await insertPerson(ctx, person)
    return { kind: 'signIn', signIn: await completeSignIn(ctx, user, userAgent), to }
  }
  const entry = isTrusted(ctx, person) ? 'PROVIDER_ADDRESS' : 'OTHER_PROVIDER_ADDRESS'
  if (outcomeOf(entry, stateOf(known)).kind !== 'enters') return askToLink(ctx, person, known, to)
  const signIn = await transaction(ctx, async (tx) => {
    const user = await enterAccount(tx, known, entry)
    await connectIdentity(tx, person, user.id)
    return completeSignIn(tx, user, userAgent)
  })
  return { kind: 'signIn', signIn, to }
}

/** A person, as a provider identifies them. */
type ConnectedPerson = Pick<Identity, 'issuer' | 'subject'>

/** The provider's claims about a person. */
interface ProvenPerson extends ConnectedPerson {
  /** In lower case; null: the provider has not verified the address. */
  readonly email: string | null
  readonly name: string
}

/**
 * Returns whether the provider's word proves that the person has the address: its domain is one whose addresses the operator lets
 * this provider vouch for.
 */
function isTrusted({ config }: PeopleContext, { email }: ProvenPerson): boolean {
  return email !== null && config.OIDC_MAIL_DOMAINS.includes(email.slice(email.lastIndexOf('@') + 1))
}

/** Returns the entry of a person who has a credential of an account, and whom the provider knows too. */
function entryOf(ctx: PeopleContext, person: ProvenPerson, { email }: Pick<User, 'email'>): Entry {
  return isTrusted(ctx, person) && person.email === email ? 'CREDENTIAL_AND_PROVIDER_ADDRESS' : 'CREDENTIAL'
}

function signInByIdentity(ctx: PeopleContext, person: ProvenPerson, known: User, userAgent: string): Promise<SignIn> {
  return transaction(ctx, async (tx) => {
    await lockUnchanged(tx, known)
    const user = await enterAccount(tx, known, entryOf(ctx, person, known))
    await connectIdentity(tx, person, user.id)
    return completeSignIn(tx, user, userAgent)
  })
}

interface Connection {
  /** The account here that the person's account at the provider is connected to; null: none. */
  readonly identity: Identity | null
  /** The account that started the connection. */
  readonly userId: string
  readonly to: string
}

async function connect(
  ctx: PeopleContext,
  person: ProvenPerson,
  { identity, userId, to }: Connection,
  userAgent: string,
): Promise<OpenIdResult> {
  if (ctx.actor.kind !== 'user' || ctx.actor.userId !== userId) throw expired()
  if (identity !== null && identity.userId !== userId) throw connectedToOther()
  return transaction<PeopleContext, OpenIdResult>(ctx, async (tx) => {
    const before = await lockOwnAccount(tx)
    const user = await enterAccount(tx, before, entryOf(ctx, person, before))
    await connectIdentity(tx, person, userId)
    if (user.generation === before.generation) return { kind: 'connected', to }
    return { kind: 'signIn', signIn: await completeSignIn(tx, user, userAgent), to }
  })
}

/** Connects an account at the provider, unless it is. @throws Conflict when it is connected to another account here. */
async function connectIdentity(tx: PeopleContext, person: ConnectedPerson, userId: string): Promise<void> {
  const { issuer, subject } = person
  const data = { issuer, subject, userId, createdAt: tx.now() }
  await tx.db.identity.createMany({ data, skipDuplicates: true })
  const where = { issuer_subject: { issuer, subject } }
  if ((await tx.db.identity.findUniqueOrThrow({ where })).userId !== userId) throw connectedToOther()
}

const connectedToOther = () => new Conflict('This account is connected to another person.')

async function askToLink(
  ctx: PeopleContext,
  { issuer, subject }: ProvenPerson,
  { id: userId, email, passwordHash }: User,
  to: string,
): Promise<OpenIdResult> {
  if (passwordHash === null) {
    const name = openIdName(ctx.config)
    throw new Forbidden('FORBIDDEN', `Sign in another way first, then connect ${name} on your account page.`)
  }
  const data = { kind: 'link', issuer, subject, to }
  return {
    kind: 'link',
    token: await createToken(ctx, 'OPENID', { userId, data, lifetimeMs: OPENID_LIFETIME }),
    email,
    to,
  }
}

function insertPerson(ctx: PeopleContext, person: ProvenPerson): Promise<User> {
  const { email, name } = person
  if (email === null || !isTrusted(ctx, person)) {
    throw new Forbidden('FORBIDDEN', 'You have no account here. Ask for an invitation.')
  }
  return transaction(ctx, async (tx) => {
    await requireSetUp(tx)
    const user = await insertUser(tx, 'PROVIDER_ADDRESS', { email, name, passwordHash: null })
    await connectIdentity(tx, person, user.id)
    return user
  })
}

const link = z.object({ kind: z.literal('link'), issuer: z.string(), subject: z.string(), to: z.string() })

/** Returns the email address of the account to be linked; null: the token was used or has expired. */
export async function emailOfLink(ctx: PeopleContext, token: string): Promise<string | null> {
  const { userId = null, data } = (await readToken(ctx, 'OPENID', token)) ?? {}
  if (userId === null || !link.safeParse(data).success) return null
  return (await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })).email
}

/**
 * Links an account at the provider to the account here, given its password, and signs in. Null: the password is wrong.
 * @throws Unauthenticated `INVALID_TOKEN` when the link took too long. @throws RateLimited after too many wrong passwords.
 */
export async function linkIdentity(
  ctx: PeopleContext,
  { token, password }: { readonly token: string; readonly password: string },
  userAgent: string,
): Promise<{ signIn: SignIn; to: string } | null> {
  const id = (await readToken(ctx, 'OPENID', token))?.userId ?? null
  if (id === null) throw expired()
  const user = await ctx.db.user.findUniqueOrThrow({ where: { id } })
  const isRight = await limitAttempts(ctx, { account: user.email, browser: knownDevice(ctx, user) }, async () =>
    (await verifyPassword(password, user.passwordHash, ctx.clientAddress)) ? true : null,
  )
  if (!isRight) return null
  return transaction(ctx, async (tx) => {
    await lockUnchanged(tx, user)
    const person = link.safeParse((await takeToken(tx, 'OPENID', token))?.data).data
    if (person === undefined) throw expired()
    await connectIdentity(tx, person, id)
    return { signIn: await completeSignIn(tx, user, userAgent), to: person.to }
  })
}

/** Returns the caller's accounts at OpenID providers. */
export function identitiesOf(ctx: PeopleContext): Promise<Identity[]> {
  const { userId } = requireUser(ctx)
  return ctx.db.identity.findMany({ where: { userId }, orderBy: { createdAt: 'asc' } })
}

/** Disconnects one of the caller's accounts at OpenID providers. */
export async function removeIdentity(ctx: PeopleContext, issuer: string, subject: string): Promise<void> {
  const { userId } = requireUser(ctx)
  requireConfirmation(ctx)
  await ctx.db.identity.deleteMany({ where: { issuer, subject, userId } })
}

const expired = () => new Unauthenticated('INVALID_TOKEN', 'This took too long, or is already finished. Start again.')

type Client = typeof import('openid-client')

/** The provider's configuration, which is fetched once. Failures are not cached. */
const providers = new WeakMap<Config, Promise<Configuration>>()

async function openProvider({ config, log }: PeopleContext): Promise<{ client: Client; provider: Configuration }> {
  const client = await import('openid-client')
  const reading = providers.get(config) ?? discover(client, config)
  providers.set(config, reading)
  try {
    return { client, provider: await reading }
  } catch (error) {
    providers.delete(config)
    log.warn({ err: error }, 'people: could not read the configuration of the OpenID provider')
    throw new Unavailable('The OpenID provider does not answer. Try again, or sign in another way.')
  }
}

async function discover(client: Client, config: Config): Promise<Configuration> {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = config
  if (issuer === undefined || id === undefined) throw new Forbidden('FORBIDDEN', 'No OpenID provider is set up.')
  const isPlain = issuer.startsWith('http:')
  return client.discovery(new URL(issuer), id, secret, secret === undefined ? client.None() : undefined, {
    timeout: PROVIDER_TIMEOUT,
    // Signatures are checked although TLS vouches for the provider: a proxy in between may not be it. Over http, nothing vouches.
    // The operator chose an http address: the provider is in their own network.
    execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
    [client.customFetch]: fetchBounded,
  })
}

/** Fetches from the provider. @throws Error when the answer is too large. */
async function fetchBounded(url: string, options: CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit)
  const { status, headers } = response
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > MAX_ANSWER) throw new Error('the answer of the provider is too large')
    pieces.push(piece)
  }
  return new Response(size === 0 ? null : Buffer.concat(pieces), { status, headers })
}

async function askProvider(
  ctx: PeopleContext,
  callback: URL,
  { state, nonce, verifier }: z.infer<typeof flow>,
): Promise<ProvenPerson> {
  const { client, provider } = await openProvider(ctx)
  try {
    const tokens = await client.authorizationCodeGrant(provider, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new Error('no ID token')
    const isComplete = claims['email'] !== undefined || provider.serverMetadata().userinfo_endpoint === undefined
    const about = isComplete ? claims : await client.fetchUserInfo(provider, tokens.access_token, claims.sub)
    return personIn(claims, about)
  } catch (error) {
    // Does not log the error itself, which contains the provider's answer.
    ctx.log.info({ reason: reasonOf(error) }, 'people: an OpenID sign-in failed')
    throw new Unauthenticated('WRONG_CREDENTIALS', 'The sign-in was cancelled or failed. Try again.')
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'error' in error && typeof error.error === 'string' ? error.error : error.message
}

/** The identifier of a person at a provider (OpenID Connect Core 1.0 §2). */
const subjectText = z.string().regex(/^[\x20-\x7e]{1,255}$/)

/** @throws ZodError when the provider names no valid subject. */
function personIn({ iss: issuer, sub }: IDToken, about: IDToken | UserInfoResponse): ProvenPerson {
  const subject = subjectText.parse(sub)
  const isVerified = about['email_verified'] === true
  const email = isVerified ? (personEmail.safeParse(about['email']).data ?? null) : null
  return { issuer, subject, email, name: nameText.safeParse(about['name']).data ?? email ?? 'New person' }
}
