import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { vi } from 'vitest'
import { freePort } from './free-port.ts'
import { isInstalled } from './installed.ts'
import { temporaryDirectory } from './scratch.ts'

/** Why Caddy cannot be used; null: it can. */
export const caddyMissing = isInstalled('caddy', 'version') ? null : 'Caddy is not installed'

/** Returns the configuration in `docs/custom-domains.md`. */
async function documentedConfiguration(): Promise<string> {
  const guide = await readFile('docs/custom-domains.md', 'utf8')
  const [, block] = /With Caddy:\s*```text\n(.*?)```/s.exec(guide) ?? []
  if (block === undefined) throw new Error('docs/custom-domains.md has no configuration of Caddy')
  return block
}

/** Caddy, until it is stopped. */
export interface RunningCaddy {
  readonly port: number
  stop(): Promise<void>
}

/** Starts Caddy in front of a service as `docs/custom-domains.md` says, with its own CA. Returns its port for TLS. */
export async function startCaddy(service: string): Promise<RunningCaddy> {
  const configuration = (await documentedConfiguration())
    .replaceAll('http://127.0.0.1:4000', service)
    .replaceAll('127.0.0.1:4000', service.replace('http://', ''))
    .replace('on_demand\n', 'on_demand\nissuer internal\n')
  return runCaddy((own) => configuration.replace('{\n', `{\n${own}`))
}

/**
 * Starts Caddy with `deploy/Caddyfile` in front of a service, with its own CA, as `localhost`. Returns its port for
 * TLS.
 */
export async function startDeployedCaddy(service: string): Promise<RunningCaddy> {
  const configuration = await readFile('deploy/Caddyfile', 'utf8')
  const caddy = await runCaddy((own) => `{\nlocal_certs\n${own}}\n${configuration}`, {
    SITE: 'localhost',
    UPSTREAMS: service.replace('http://', ''),
  })
  await vi.waitFor(() => shakeHands(caddy.port))
  return caddy
}

/** @throws Error until Caddy has the certificate of the site, which it issues after it has begun to serve. */
async function shakeHands(port: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect')
  } finally {
    socket.destroy()
  }
}

/**
 * Runs Caddy.
 * @param configure returns the whole configuration, including these global options.
 */
async function runCaddy(configure: (own: string) => string, env: NodeJS.ProcessEnv = {}): Promise<RunningCaddy> {
  const directory = await temporaryDirectory()
  const [port, httpPort] = [await freePort(), await freePort()]
  const own = `admin off\nauto_https disable_redirects\nskip_install_trust\nhttps_port ${port}\nhttp_port ${httpPort}\nstorage file_system ${directory.path}\n`
  const file = join(directory.path, 'Caddyfile')
  await writeFile(file, configure(own))
  const child = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      ...env,
      HOME: directory.path,
      XDG_DATA_HOME: directory.path,
      XDG_CONFIG_HOME: directory.path,
    },
  })
  let log = ''
  const up = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('serving initial configuration')) resolve()
    })
    child.once('close', () => reject(new Error(`Caddy ended: ${log}`)))
  })
  const ended = once(child, 'close')
  await up
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await directory.remove()
    },
  }
}
