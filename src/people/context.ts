import type { CredentialCache } from '../account/api-key/credential-cache.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { ChangeContext } from '../event-log/change.ts'
import type { SendAccountMail } from './mail.ts'
import type { KnownSession } from './session.ts'

/** The context of functions that act on people’s accounts. */
export interface PeopleContext extends ChangeContext, SessionCache, AccountMailer {
  /** Encrypts people’s secrets, such as those of authenticator apps. */
  readonly seal: SecretBox
  /** Our public address, for links in emails. */
  readonly site: { readonly baseUrl: string }
  /** The value stored in this browser when a person signed in (`newDevice`); absent: none. */
  readonly device?: string | undefined
}

/** What ends sessions in this process at once. */
export interface SessionCache {
  /** The cache of sessions; absent: this process does not cache sessions. */
  readonly knownSessions?: CredentialCache<KnownSession> | undefined
}

/** What sends emails about accounts. */
export interface AccountMailer {
  /** Absent: email is not set up. */
  readonly sendMail?: SendAccountMail | undefined
}
