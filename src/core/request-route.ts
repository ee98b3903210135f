/** By which way a request came, as its socket and headers say. */
export interface RequestRoute {
  /** The address of the other end of the socket; null: unknown. */
  readonly peer: string | null
  /** The caller’s address after trusted proxies (`http/request/client-address.ts`). */
  readonly client: string
  /** The headers of the same names; null: absent. */
  readonly host: string | null
  readonly forwardedFor: string | null
  readonly forwardedProto: string | null
  /** Whether another header of a proxy came along, such as Via or X-Real-IP. */
  readonly hasProxyHeader: boolean
}
