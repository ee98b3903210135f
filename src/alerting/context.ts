import type { Context } from '../core/context.ts'
import type { Outbound } from '../network/outbound/outbound.ts'
import type { Mailer } from '../notification/channel/mailer.ts'
import type { NotificationContext } from '../notification/context.ts'

/** The context of operations on alert channels. */
export interface AlertingContext extends NotificationContext {
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
  readonly tools: { readonly outbound: Pick<Outbound, 'request'> }
}

/** The context of the workers that create and send alerts. */
export type AlertWorkContext = Context & Pick<NotificationContext, 'seal'>

declare module '../core/context.ts' {
  interface Context {
    /** Sends email; null or absent if email is not set up. */
    readonly mailer?: Mailer | null | undefined
  }
}
