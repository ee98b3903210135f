import type { EditContext } from '../account/managed-object.ts'
import type { ChangeContext } from '../event-log/change.ts'
import type { Outbound } from '../network/outbound/outbound.ts'
import type { Mailer } from '../notification/channel/mailer.ts'
import type { NotificationContext } from '../notification/context.ts'

/** The context of operations on alert channels. */
export interface AlertingContext extends NotificationContext, EditContext {
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
  /** Sends email; null: email is not set up. */
  readonly mailer: Mailer | null
  readonly tools: { readonly outbound: Pick<Outbound, 'request'> }
}

/** The context of the workers that create and send alerts. */
export type AlertWorkContext = ChangeContext & Pick<NotificationContext, 'seal'>
