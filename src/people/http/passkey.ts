import type { Context as HttpContext } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { DomainError, Invalid, RateLimited, Unauthenticated } from '../../core/errors.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { unstorable } from '../../core/storable-text.ts'
import { readBytes } from '../../http/request/body.ts'
import { decodeText } from '../../http/request/content.ts'
import { mediaTypeOf } from '../../http/request/media-type.ts'
import { nodeRequest } from '../../http/request/node-request.ts'
import type { PeopleContext } from '../context.ts'
import type { RelyingParty } from '../credential/passkey.ts'
import {
  addPasskey,
  confirmByPasskey,
  confirmOptions,
  passkeyRefused,
  registrationOptions,
  signInByPasskey,
  signInOptions,
} from '../credential/passkey.ts'
import { ownAddress } from './own-address.ts'

/** The path prefix of the JSON endpoints for passkeys. */
const PASSKEY_PATH = '/sign-in/passkey'

const MAX_BYTES = bodyLimits.passkey.most

/** The dependencies of these endpoints. */
export interface PasskeyEndpoints {
  readonly app: { post(path: string, handler: (c: HttpContext) => Promise<Response>): unknown }
  readonly site: { readonly baseUrl: string }
  /** Handles a request from one of our own pages. */
  answer(c: HttpContext, work: (ctx: PeopleContext) => Promise<Response>): Promise<Response>
  /** Sets the cookie of a new session. */
  changeSession(c: HttpContext, ctx: PeopleContext, token: string): Promise<void>
  /** Runs when a person has confirmed their identity. */
  onConfirm(c: HttpContext): void
}

type Work = (ctx: PeopleContext, party: RelyingParty, input: unknown, c: HttpContext) => Promise<object>

/** Adds the passkey endpoints, which our own script calls. Errors are `{"code", "message"}`. */
export function addPasskeyEndpoints({ app, site, answer, changeSession, onConfirm }: PasskeyEndpoints): void {
  function endpoint(path: string, work: Work): void {
    app.post(`${PASSKEY_PATH}${path}`, (c) =>
      answer(c, async (ctx) => {
        try {
          const input = await readJson(c)
          return c.json(await work(ctx, relyingPartyOf(c, ctx, site), input, c), 200, noStore)
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          return c.json({ code: error.code, message: error.message }, statusOf(error), noStore)
        }
      }),
    )
  }

  endpoint('/options', signInOptions)
  endpoint('', async (ctx, party, input, c) => {
    const token = await signInByPasskey(ctx, party, input, c.req.header('user-agent') ?? '')
    if (token === null) throw passkeyRefused()
    await changeSession(c, ctx, token)
    return {}
  })
  endpoint('/confirm/options', confirmOptions)
  endpoint('/confirm', async (ctx, party, input, c) => {
    if (!(await confirmByPasskey(ctx, party, input))) throw passkeyRefused()
    onConfirm(c)
    return {}
  })
  endpoint('/register/options', registrationOptions)
  endpoint('/register', async (ctx, party, input) => {
    await addPasskey(ctx, party, input)
    return {}
  })
}

const noStore = { 'cache-control': 'no-store' }

function statusOf(error: DomainError): 401 | 422 | 429 {
  if (error instanceof RateLimited) return 429
  return error instanceof Unauthenticated ? 401 : 422
}

function relyingPartyOf(c: HttpContext, ctx: PeopleContext, site: { readonly baseUrl: string }): RelyingParty {
  const origin = ownAddress(c, ctx, site)
  return { id: new URL(origin).hostname, origin }
}

async function readJson(c: HttpContext): Promise<unknown> {
  const type = c.req.header('content-type')
  if (mediaTypeOf(type)?.essence !== 'application/json') throw new HTTPException(415)
  const text = decodeText(await readBytes(nodeRequest(c), MAX_BYTES), type)
  try {
    return JSON.parse(text, storable)
  } catch {
    throw new Invalid('INVALID_JSON', 'The body is not JSON, or has a text that cannot be stored.')
  }
}

/** Passes a member of a JSON value. @throws when its name or text cannot be stored. */
function storable(name: string, value: unknown): unknown {
  const why = unstorable(name) ?? (typeof value === 'string' ? unstorable(value) : null)
  if (why !== null) throw new Error(why)
  return value
}
