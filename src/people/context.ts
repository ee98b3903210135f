import type { CredentialCache } from '../account/api-key/credential-cache.ts'
import type { Context } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { SendAccountMail } from './mail.ts'
import type { KnownSession } from './sign-in/session.ts'

/** The context of what people do. */
export interface PeopleContext extends Context {
  /** Encrypts the secrets of authenticator apps. */
  readonly seal: SecretBox
  /** Our public address, for links in mail. */
  readonly site: { readonly baseUrl: string }
  /** What this browser keeps since a person signed in (`newDevice`); absent: nothing. */
  readonly device?: string | undefined
}

declare module '../core/context.ts' {
  interface Context {
    /** The cache of sessions; absent: this process has none. */
    readonly knownSessions?: CredentialCache<KnownSession> | undefined
    /** Sends mail about accounts; absent: mail is not set up. */
    readonly sendMail?: SendAccountMail | undefined
  }
}
