import type { Context } from '../context.ts'
import type { Btcpay } from './btcpay.ts'
import type { Tokens } from './token.ts'

/** What billing needs besides what every domain function is given. */
export interface Billing {
  readonly tokens: Tokens
  /** The payment server for coins; null when none is set up. */
  readonly btcpay: Btcpay | null
  /** The public address of this service, without a slash at its end. */
  baseUrl(): string
}

export interface BillingContext extends Context {
  readonly billing: Billing
}
