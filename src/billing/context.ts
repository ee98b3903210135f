import type { UsageCounters } from '../account/usage.ts'
import type { Context } from '../context.ts'
import type { Btcpay } from './btcpay.ts'
import type { Tokens } from './token.ts'

/** What billing needs besides what every domain function is given. */
export interface Billing {
  readonly tokens: Tokens
  /** The payment server for coins; null when none is set up. */
  readonly btcpay: Btcpay | null
}

export interface BillingContext extends Context {
  readonly billing: Billing
  /** Where the service is reached: its public address, without a slash at its end; known once it listens. */
  readonly site: { readonly baseUrl: string }
}

/** What buying takes beside that. */
export interface BuyerContext extends BillingContext {
  /** Counts what is asked for, so that the payment server is not flooded. */
  readonly usage: UsageCounters
}
