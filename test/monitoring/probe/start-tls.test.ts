import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { StartTls } from '../../../src/monitoring/probe/start-tls.ts'
import { tcp } from '../../../src/monitoring/probe/tcp.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { zone } from '../../network/outbound/setup.ts'
import { createAuthority } from '../../support/certificate.ts'
import { freePort } from '../../support/free-port.ts'
import { scratchFolder, startProgram } from '../../support/program.ts'
import { runWith, startTools } from './run.ts'

const authority = createAuthority()

/** Creates a folder with a certificate of the test authority and its key. */
function certified() {
  const folder = scratchFolder()
  const { cert, key } = authority.issue(['127.0.0.1'])
  const files = { folder, cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key)
  return files
}

async function ask(startTls: StartTls, port: number) {
  const { tools } = await startTools(zone({}))
  const outbound = createOutbound({ dns: tools.dns, allowPrivate: true, ca: authority.ca })
  const options = tcp.options.parse({ host: '127.0.0.1', port, startTls })
  return tcp.run(options, runWith({ ...tools, outbound }, { timeoutMs: 5000 }))
}

const secured = { outcome: 'UP', detail: { certificateEndsAt: expect.any(String) } }
const refused = { outcome: 'DOWN', message: 'The server refused to start TLS' }

const exim = '/usr/sbin/exim4'
const dovecot = '/usr/sbin/dovecot'
const slapd = '/usr/sbin/slapd'
const isRoot = process.getuid?.() === 0

describe('STARTTLS of real servers, if Debian’s packages are installed and tests run as root', () => {
  test.skipIf(!existsSync(exim) || !isRoot).each([true, false])('SMTP (exim4), offered: %s', async (isOffered) => {
    const [{ folder, cert, key }, port] = [certified(), await freePort()]
    const conf = join(folder, 'conf')
    const lines = [
      'exim_user = root\nexim_group = root\nnever_users =\nkeep_environment =',
      `spool_directory = ${folder}\nlog_file_path = ${folder}/%slog\npid_file_path = ${folder}/pid`,
      `primary_hostname = mail.example\nlocal_interfaces = 127.0.0.1\nacl_smtp_rcpt = deny`,
      `tls_advertise_hosts = ${isOffered ? '*' : ''}\ntls_certificate = ${cert}\ntls_privatekey = ${key}`,
    ]
    writeFileSync(conf, `${lines.join('\n')}\n`)
    await startProgram(exim, ['-C', conf, '-bdf', '-oX', String(port)], port)
    expect(await ask('SMTP', port)).toMatchObject(isOffered ? secured : refused)
  })

  test.skipIf(!existsSync(dovecot) || !isRoot).each(['yes', 'no'])('IMAP and POP3 (dovecot), ssl = %s', async (ssl) => {
    const { folder, cert, key } = certified()
    const [imap, pop3] = [await freePort(), await freePort()]
    const listener = (name: string, port: number) =>
      `service ${name}-login {\n inet_listener ${name} {\n  port = ${port}\n }\n inet_listener ${name}s {\n  port = 0\n }\n}`
    const conf = join(folder, 'conf')
    mkdirSync(join(folder, 'run'))
    const lines = [
      `base_dir = ${folder}/run\nstate_dir = ${folder}/run\nlog_path = ${folder}/log\nlisten = 127.0.0.1`,
      `protocols = imap pop3\nssl = ${ssl}\nssl_cert = <${cert}\nssl_key = <${key}`,
      'passdb {\n driver = static\n args = password=secret\n}',
      ...[listener('imap', imap), listener('pop3', pop3)],
    ]
    writeFileSync(conf, `${lines.join('\n')}\n`)
    await startProgram(dovecot, ['-F', '-c', conf], imap)
    expect(await ask('IMAP', imap)).toMatchObject(ssl === 'yes' ? secured : refused)
    expect(await ask('POP3', pop3)).toMatchObject(ssl === 'yes' ? secured : refused)
  })

  test.skipIf(!existsSync(slapd)).each([true, false])('LDAP (slapd), with a certificate: %s', async (hasOne) => {
    const [{ folder, cert, key }, port] = [certified(), await freePort()]
    const conf = join(folder, 'conf')
    writeFileSync(conf, hasOne ? `TLSCertificateFile ${cert}\nTLSCertificateKeyFile ${key}\n` : '')
    await startProgram(slapd, ['-f', conf, '-h', `ldap://127.0.0.1:${port}`, '-d', '0'], port)
    expect(await ask('LDAP', port)).toMatchObject(hasOne ? secured : refused)
  })
})
