/**
 * The use of a connection that a tenant chooses:
 * - `connection`: nothing that the tenant wrote is sent, at most our own request for TLS (STARTTLS).
 * - `text`: the tenant's text is sent as it is.
 * - `application`: a request of HTTP, a database or a broker, in which servers of line-based protocols could read the
 *   tenant's texts as commands.
 */
export type PortUse = 'connection' | 'text' | 'application'

/** SMTP (RFC 5321), submission (RFC 6409, RFC 8314), and the usual alternative to port 25. */
const mailPorts = new Set([25, 465, 587, 2525])

/** The ports of other protocols to which browsers send no requests (Fetch Standard, "port blocking"). */
const blockedPorts = new Set([
  ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110],
  ...[111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 512, 513, 514, 515, 526, 530, 531, 532],
  ...[540, 548, 554, 556, 563, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061],
  ...[6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
])

/** Returns why a port must not be used, as in `port 25, which is for mail`; null: it may be used. */
export function portRefusal(port: number, use: PortUse): string | null {
  if (use === 'connection') return null
  if (mailPorts.has(port)) return `port ${port}, which is for mail`
  return use === 'application' && blockedPorts.has(port) ? `port ${port}, which is for another protocol` : null
}
