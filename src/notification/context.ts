import type { Quota } from '../account/quota.ts'
import type { Config } from '../core/config.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { ChangeContext } from '../event-log/change.ts'

/** The context of operations on subscribers. */
export interface NotificationContext extends ChangeContext {
  /** Encrypts addresses, tokens and secrets. */
  readonly seal: SecretBox
  /** Counts requests and emails, against flooding. */
  readonly usage: Quota
}

/** Returns whether this service sends email. */
export function isMailEnabled({ SMTP_URL }: Pick<Config, 'SMTP_URL'>): boolean {
  return SMTP_URL !== undefined
}
