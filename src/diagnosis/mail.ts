import { addressRange, parseAddress } from '../core/ip-address.ts'
import { parseUrl } from '../core/url.ts'
import type { MailTrial } from '../notification/channel/mail-server-trial.ts'
import { tryMailServer } from '../notification/channel/mail-server-trial.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

/**
 * Examines the mail server of the settings: connects, encrypts and logs in, but sends nothing.
 * @param readRefusal returns what the server said when it last refused our email, if it still does.
 */
export async function examineMail(
  smtpUrl: string | undefined,
  readRefusal: () => Promise<string | null> = async () => null,
): Promise<Finding> {
  if (smtpUrl === undefined) return found('MAIL_NOT_SET_UP')
  const { hostname = '', port = '' } = parseUrl(smtpUrl) ?? {}
  const host = port === '' ? hostname : `${hostname}:${port}`
  const finding = judgeMail(await tryMailServer(smtpUrl), host, isOwnMachine(hostname))
  if (finding.severity === 'error') return finding
  const refusal = await readRefusal()
  return refusal === null ? finding : found('MAIL_REFUSED', { host, reason: refusal.replace(/\.$/, '') })
}

/** Returns the finding for a connection. @param isOwn whether the server runs on this machine, where encryption is unnecessary. */
export function judgeMail(trial: MailTrial, host: string, isOwn: boolean): Finding {
  if (trial.kind === 'failed') {
    const { at, reason } = trial
    if (at === 'connection') return found('MAIL_UNREACHABLE', { host, reason })
    return found(at === 'login' ? 'MAIL_LOGIN_REFUSED' : 'MAIL_CERTIFICATE_REFUSED', { host, reason })
  }
  const { isEncrypted, isLoggedIn } = trial
  if (!isEncrypted && !isOwn) return found('MAIL_NOT_ENCRYPTED', { host })
  const how = `${isEncrypted ? 'encrypted' : 'on this machine'}, ${isLoggedIn ? 'with the login' : 'without a login'}`
  return found('MAIL_OK', { host, how })
}

function isOwnMachine(hostname: string): boolean {
  const address = parseAddress(hostname.replace(/^\[|\]$/g, ''))
  return address === null ? hostname === 'localhost' : addressRange(address) === 'loopback'
}
