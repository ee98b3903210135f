import type { Quota } from '../account/quota.ts'
import type { ChangeContext } from '../event-log/change.ts'
import type { Btcpay } from './btcpay.ts'
import type { Tokens } from './token.ts'

/** The services of billing. */
interface Billing {
  readonly tokens: Tokens
  /** The payment server for Bitcoin and Litecoin; null when not configured. */
  readonly btcpay: Btcpay | null
}

export interface BillingContext extends ChangeContext {
  readonly billing: Billing
  /** The public address of the service, without a trailing slash. It is known once the service listens. */
  readonly site: { readonly baseUrl: string }
}

/** The context of a purchase. */
export interface BuyerContext extends BillingContext {
  /** Counts invoices, to limit requests to the payment server. */
  readonly usage: Quota
}
