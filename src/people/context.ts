import type { CredentialCache } from '../account/api-key/credential-cache.ts'
import type { Context } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { SendAccountMail } from './mail.ts'
import type { KnownSession } from './session.ts'

/** The context of functions that act on people’s accounts. */
export interface PeopleContext extends Context {
  /** Encrypts people’s secrets, such as those of authenticator apps. */
  readonly seal: SecretBox
  /** Our public address, for links in emails. */
  readonly site: { readonly baseUrl: string }
  /** The value stored in this browser when a person signed in (`newDevice`); absent: none. */
  readonly device?: string | undefined
}

declare module '../core/context.ts' {
  interface Context {
    /** The cache of sessions; absent: this process does not cache sessions. */
    readonly knownSessions?: CredentialCache<KnownSession> | undefined
    /** Sends emails about accounts; absent: email is not set up. */
    readonly sendMail?: SendAccountMail | undefined
  }
}
