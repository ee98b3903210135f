import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { createTaskThread } from '../../core/thread/task-thread.ts'
import { SECOND } from '../../core/time.ts'

/** What an authenticator's response must match. */
interface Expectation {
  readonly expectedChallenge: string
  readonly expectedOrigin: string
  readonly expectedRPID: string
}

/** A request to the thread. */
export type PasskeyTask =
  | (Expectation & { readonly kind: 'registration'; readonly response: RegistrationResponseJSON })
  | (Expectation & {
      readonly kind: 'authentication'
      readonly response: AuthenticationResponseJSON
      readonly credential: { id: string; publicKey: Uint8Array<ArrayBuffer>; counter: number }
    })

/** The answer of the thread. */
export type PasskeyAnswer =
  | {
      readonly kind: 'registered'
      readonly id: string
      readonly publicKey: Uint8Array
      readonly counter: number
      readonly transports: readonly string[]
    }
  | { readonly kind: 'authenticated'; readonly counter: number }
  | { readonly kind: 'refused'; readonly message: string }

const thread = createTaskThread<PasskeyTask, PasskeyAnswer>('people/credential/passkey-worker', {
  timeoutMs: 5 * SECOND,
  maxWaiting: 100,
  maxWaitingPerOwner: 5,
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
})

/**
 * Verifies the response of an authenticator in a thread.
 * @param owner the party that the work is for, such as a network. Owners take turns.
 * @throws Unavailable when too many requests are waiting.
 */
export const verifyPasskey = thread.run

/** Stops the thread. Call it when the service stops. */
export const closePasskeyThread = thread.close
