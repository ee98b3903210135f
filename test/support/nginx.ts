import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Certified } from './certificate.ts'
import { freePort } from './free-port.ts'
import { isInstalled } from './installed.ts'
import { temporaryDirectory } from './scratch.ts'

/** Why nginx cannot be used; null: it can. */
export const nginxMissing = isInstalled('nginx', '-v') ? null : 'nginx is not installed'

/** Returns the configuration of a cache in `docs/deployment.md`. */
async function documentedConfiguration(): Promise<string> {
  const guide = await readFile('docs/deployment.md', 'utf8')
  const [, block] = /## A cache in front.*?```nginx\n(.*?)```/s.exec(guide) ?? []
  if (block === undefined) throw new Error('docs/deployment.md has no configuration of a cache')
  return block
}

/** Starts nginx as a cache in front of a service, configured as `docs/deployment.md` says. */
export async function startEdge(service: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const directory = await temporaryDirectory()
  const port = await freePort()
  const cache = join(directory.path, 'cache')
  await mkdir(cache)
  const block = (await documentedConfiguration())
    .replace('/var/cache/nginx/allclear', cache)
    .replace('listen 80', `listen 127.0.0.1:${port}`)
    .replace('http://127.0.0.1:4000', service)
  return runNginx(block, directory, `http://127.0.0.1:${port}`)
}

/** Starts nginx with `deploy/nginx.conf` in front of a service. Returns its port for TLS. */
export async function startDeployedNginx(
  service: string,
  { cert, key }: Certified,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const directory = await temporaryDirectory()
  const [port, plainPort] = [await freePort(), await freePort()]
  const files = { 'fullchain.pem': cert, 'privkey.pem': key }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory.path, name), content)
  const block = (await readFile('deploy/nginx.conf', 'utf8'))
    .replaceAll('/etc/letsencrypt/live/status.example.com', directory.path)
    .replaceAll(/^.*listen \[::\].*\n/gm, '')
    .replace('listen 80', `listen 127.0.0.1:${plainPort}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('127.0.0.1:4000', service.replace('http://', ''))
  const { stop } = await runNginx(block, directory, `http://127.0.0.1:${plainPort}`)
  return { port, stop }
}

/** Starts nginx as a proxy in front of a service, with additional `lines` in its location. */
export async function startProxyNginx(
  service: string,
  lines: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = await freePort()
  const block = `server { listen 127.0.0.1:${port}; location / { proxy_pass ${service}; proxy_set_header Host $http_host; ${lines} } }`
  return runNginx(block, await temporaryDirectory(), `http://127.0.0.1:${port}`)
}

type Directory = Awaited<ReturnType<typeof temporaryDirectory>>

/** Runs nginx with the content of its `http` block, and waits until it answers at `url`. */
async function runNginx(
  block: string,
  directory: Directory,
  url: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(directory.path, name)};`)
    .join('\n')
  const file = join(directory.path, 'nginx.conf')
  // Matters only if the tests run as root: the default user may not be able to read the directory.
  const top = `daemon off; worker_processes 1; pid ${join(directory.path, 'pid')}; ${process.getuid?.() === 0 ? 'user root;' : ''}`
  await writeFile(file, `${top}\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${block}\n}\n`)
  const child = spawn('nginx', ['-c', file, '-p', directory.path, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const ended = once(child, 'close')
  for (;;) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${complaints}`)
    const isUp = await fetch(url, { method: 'HEAD', redirect: 'manual' }).then(
      () => true,
      () => false,
    )
    if (isUp) break
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await directory.remove()
    },
  }
}
