import { SECOND } from '../core/time.ts'
import { tryWebsocket } from '../network/websocket-handshake.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

const TIMEOUT_MS = 5 * SECOND

/** Opens a websocket to the service, which a proxy may block. @param url without a trailing slash. */
export async function examineWebsocket(url: string): Promise<Finding> {
  const handshake = await tryWebsocket(`${url}/graphql`, 'graphql-transport-ws', TIMEOUT_MS)
  if (handshake.kind === 'open') return found('WEBSOCKET_OK')
  if (handshake.kind === 'refused') return found('WEBSOCKET_BLOCKED', { url, status: handshake.status })
  return found('WEBSOCKET_UNREACHABLE', { url, reason: handshake.reason })
}
