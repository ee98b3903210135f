/**
 * The parts of PagerDuty's client that the tests use. Its own types only accept the types of a browser's `fetch`, and
 * return answers as `any`.
 */
declare module '@pagerduty/pdjs' {
  import type { Agent } from 'node:https'

  interface PagerDutyEvent {
    readonly routing_key: string
    readonly dedup_key?: string
    readonly payload?: {
      readonly summary: string
      readonly source: string
      readonly severity: 'critical' | 'error' | 'warning' | 'info'
      readonly timestamp?: string
      readonly component?: string
      readonly group?: string
      readonly class?: string
      readonly custom_details?: object
    }
    readonly images?: readonly { readonly src: string; readonly href?: string; readonly alt?: string }[]
    readonly links?: readonly { readonly href: string; readonly text?: string }[]
    readonly client?: string
    readonly client_url?: string
  }

  interface Given<T> {
    readonly data: T
    /** The host, with its port; absent: PagerDuty's. The client uses HTTPS. */
    readonly server?: string
    /** For `node-fetch`. */
    readonly agent?: Agent
    /** Milliseconds to wait before a retry after status 429, three times. */
    readonly retryTimeout?: number
  }

  type Send<T> = (given: Given<T>) => Promise<{ readonly status: number; readonly data: unknown }>

  export const event: Send<PagerDutyEvent & { readonly event_action: 'trigger' | 'acknowledge' | 'resolve' }>
  export const trigger: Send<PagerDutyEvent>
  export const acknowledge: Send<PagerDutyEvent>
  export const resolve: Send<PagerDutyEvent>
}
