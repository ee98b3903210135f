import type { Logger } from 'pino'
import type { Delivery } from './signature.ts'
import { isReadable, isSignedByStripe, TOLERANCE } from './signature.ts'

/** Whether a delivery was signed with a secret, not too long before `now`. */
export type VerifyStripe = (delivery: Delivery, secret: string, now: Date) => Promise<boolean>

type Library = typeof import('stripe')

/** Checks what claims to come from the payment provider. */
export interface StripeVerifier {
  readonly verify: VerifyStripe
  /** Loads what that takes, so that the first delivery need not wait for it: about a second. Never rejects. */
  prepare(): Promise<void>
}

/**
 * Checks signatures with the provider's library, which is loaded at the first delivery at the latest. Where it cannot be
 * loaded, our own check takes its place (specification §5); both accept and refuse the same.
 */
export function stripeVerifier(log: Logger, load: () => Promise<Library> = () => import('stripe')): StripeVerifier {
  let loading: Promise<Library | null> | undefined
  const library = () => {
    loading ??= load().catch((error: unknown) => {
      log.warn(
        { err: error },
        'billing: the payment provider’s library does not load; signatures are checked without it',
      )
      return null
    })
    return loading
  }
  return {
    async verify(delivery, secret, now) {
      const loaded = await library()
      return loaded === null
        ? isSignedByStripe(delivery, secret, now)
        : isSignedAsLibrarySays(loaded, delivery, secret, now)
    },
    prepare: async () => void (await library()),
  }
}

function isSignedAsLibrarySays(library: Library, { body, header }: Delivery, secret: string, now: Date): boolean {
  const { signature } = library.default.webhooks
  if (!isReadable(header) || signature === null) return false
  try {
    return signature.verifyHeader(body, header, secret, TOLERANCE, undefined, now.getTime())
  } catch {
    return false
  }
}
