import { hashSecret } from '../../core/hash-secret.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { newToken } from './heartbeat.ts'

/** Creates the token of a heartbeat. Returns its columns. */
export function newHeartbeatToken(seal: SecretBox, id: string) {
  const token = newToken()
  return { heartbeatHash: hashSecret(token), heartbeatToken: seal.seal(token, heartbeatTokenPurpose(id)) }
}

/** Returns the purpose for which the token of a heartbeat is sealed. */
export const heartbeatTokenPurpose = (id: string) => `${id} heartbeat token`
