import type { Logger } from 'pino'
import type { WebhookRequest } from './signature.ts'
import { isParsableHeader, isSignedByStripe, TOLERANCE_SECONDS } from './signature.ts'

/** Returns whether a request was signed with a secret, not too long before `now`. */
export type VerifyStripe = (request: WebhookRequest, secret: string, now: Date) => Promise<boolean>

type Library = typeof import('stripe')

/** Verifies webhook requests of Stripe. */
export interface StripeVerifier {
  readonly verify: VerifyStripe
  /** Loads Stripe's library, which takes about a second, ahead of the first request. Never rejects. */
  preload(): Promise<void>
}

/**
 * Creates a verifier that uses Stripe's library, which is loaded on the first request at the latest. If the library
 * does not load, uses our own check (specification §5), which accepts and rejects the same requests.
 */
export function createStripeVerifier(
  log: Logger,
  load: () => Promise<Library> = () => import('stripe'),
): StripeVerifier {
  let loading: Promise<Library | null> | undefined
  const library = () => {
    loading ??= load().catch((error: unknown) => {
      log.warn({ err: error }, 'billing: the Stripe library does not load; verifying signatures without it')
      return null
    })
    return loading
  }
  return {
    async verify(request, secret, now) {
      const loaded = await library()
      return loaded === null ? isSignedByStripe(request, secret, now) : verifyWithLibrary(loaded, request, secret, now)
    },
    preload: async () => void (await library()),
  }
}

function verifyWithLibrary(library: Library, { body, header }: WebhookRequest, secret: string, now: Date): boolean {
  const { signature } = library.default.webhooks
  if (!isParsableHeader(header) || signature === null) return false
  try {
    return signature.verifyHeader(body, header, secret, TOLERANCE_SECONDS, undefined, now.getTime())
  } catch {
    return false
  }
}
