import { hashSecret } from '../account/secret.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { newToken } from './heartbeat.ts'

/** Creates the token of a heartbeat, as its columns. */
export function newHeartbeatToken(seal: SecretBox, id: string) {
  const token = newToken()
  return { heartbeatHash: hashSecret(token), heartbeatToken: seal.seal(token, heartbeatTokenPurpose(id)) }
}

/** What the token of a heartbeat is sealed for. */
export const heartbeatTokenPurpose = (id: string) => `${id} heartbeat token`
