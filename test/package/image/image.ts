import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Running, start } from '../install.ts'

/*
 * Builds `deploy/Dockerfile` without Docker: each `FROM node:24…-bookworm-slim` is a copy of a clean Debian with Node.js 24 and npm,
 * and each `RUN` runs in it by `chroot`. Supports the instructions that the file uses, and throws on others.
 */

const run = promisify(execFile)
/** The clean Debian, cached between runs. */
const BASE = join(tmpdir(), 'allclear-image-base')
/** npm's download cache, which the stages share with this machine. */
const NPM_CACHE = '/npm-cache'

/** A built image. */
export interface Image {
  /** Its root directory. */
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  /** The user and group of its process. */
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly healthCheck: readonly string[]
  /** How long each instruction took, in milliseconds. */
  readonly steps: readonly { readonly instruction: string; readonly ms: number }[]
  remove(): Promise<void>
}

/** Builds the image. Needs root, `debootstrap`, and Debian's and npm's packages. */
export async function buildImage(): Promise<Image> {
  const directory = await mkdtemp(join(tmpdir(), 'allclear-image-'))
  await makeBase()
  const steps: { instruction: string; ms: number }[] = []
  const build: Build = {
    directory,
    roots: new Map(),
    root: '',
    folder: '/',
    env: { PATH },
    user: '',
    entrypoint: [],
    healthCheck: [],
  }
  for (const [instruction, rest] of await instructions()) {
    const begun = performance.now()
    const follow = Object.hasOwn(handlers, instruction) ? handlers[instruction] : undefined
    if (follow === undefined) throw new Error(`There is no ${instruction} here.`)
    await follow(build, rest)
    steps.push({ instruction: `${instruction} ${rest.slice(0, 60)}`, ms: performance.now() - begun })
  }
  return { ...build, steps, remove: () => rm(directory, { recursive: true }) }
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** A build in progress. */
interface Build {
  readonly directory: string
  /** The roots of the stages, by name. */
  readonly roots: Map<string, string>
  /** Of the current stage. */
  root: string
  folder: string
  env: Readonly<Record<string, string>>
  user: string
  entrypoint: readonly string[]
  healthCheck: readonly string[]
}

const handlers: Readonly<Record<string, (build: Build, rest: string) => Promise<void> | void>> = {
  async FROM(build, rest) {
    const [image, , name = 'image'] = rest.split(' ')
    if (!/^node:24[\d.]*-bookworm-slim(@sha256:[\da-f]{64})?$/.test(image ?? ''))
      throw new Error(`There is no base for ${image}.`)
    build.root = join(build.directory, name)
    build.folder = '/'
    build.roots.set(name, build.root)
    await run('cp', ['--archive', '--reflink=auto', BASE, build.root])
  },
  async WORKDIR(build, rest) {
    build.folder = rest
    await mkdir(join(build.root, rest), { recursive: true })
  },
  COPY: copy,
  RUN: runIn,
  ENV(build, rest) {
    build.env = { ...build.env, ...Object.fromEntries(rest.split(' ').map((each) => each.split(/=(.*)/, 2))) }
  },
  USER(build, rest) {
    build.user = rest
  },
  ENTRYPOINT(build, rest) {
    build.entrypoint = JSON.parse(rest)
  },
  HEALTHCHECK(build, rest) {
    build.healthCheck = JSON.parse(rest.slice(rest.indexOf('[')))
  },
  VOLUME() {},
  EXPOSE() {},
  STOPSIGNAL() {},
}

async function instructions(): Promise<[string, string][]> {
  const text = await readFile('deploy/Dockerfile', 'utf8')
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/ *\\\n */g, ' ')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)])
}

/** Creates a Debian like that of the Node.js images: minimal, with Node.js 24 and npm in /usr/local. */
async function makeBase(): Promise<void> {
  if (existsSync(join(BASE, 'usr/local/bin/npm'))) return
  await rm(BASE, { recursive: true, force: true })
  const unfinished = `${BASE}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  const sources = execFileSync('sh', ['-c', 'cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true'])
  const [mirror = ''] = /https?:\/\/\S+/.exec(sources.toString().replace(/^#.*$/gm, '')) ?? []
  await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', unfinished, mirror])
  for (const name of execFileSync('ls', ['/etc/apt/apt.conf.d']).toString().trim().split('\n')) {
    await copyFile(join('/etc/apt/apt.conf.d', name), join(unfinished, 'etc/apt/apt.conf.d', name))
  }
  const node = await run('npx', ['-y', '-p', 'node@24', '--', 'node', '-p', 'process.execPath'])
  await copyFile(node.stdout.trim(), join(unfinished, 'usr/local/bin/node'))
  await chmod(join(unfinished, 'usr/local/bin/node'), 0o755)
  const modules = (await run('npm', ['root', '--global'])).stdout.trim()
  await cp(join(modules, 'npm'), join(unfinished, 'usr/local/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(unfinished, 'usr/local/bin', name))
  }
  // A container gets both from its host.
  await copyFile('/etc/resolv.conf', join(unfinished, 'etc/resolv.conf'))
  await copyFile('/etc/ssl/certs/ca-certificates.crt', join(unfinished, 'etc/ssl/certs/ca-certificates.crt'))
  await run('mv', [unfinished, BASE])
}

async function copy({ root, folder, roots }: Build, rest: string): Promise<void> {
  const [, stage, from = '', to = ''] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(rest) ?? []
  const target = to.startsWith('/') ? join(root, to) : join(root, folder, to)
  if (stage !== undefined) {
    await run('sh', [
      '-c',
      `mkdir -p "${target}" && cp --archive ${roots.get(stage)}${from}${isFolder(from)} "${target}"`,
    ])
    return
  }
  const ignored = (await readFile('deploy/Dockerfile.dockerignore', 'utf8')).trim().split('\n')
  const excludes = ignored.map((each) =>
    each.startsWith('**/') ? `--no-anchored --exclude=${each.slice(3)}` : `--anchored --exclude=./${each}`,
  )
  await run('sh', ['-c', `tar -c ${excludes.join(' ')} -C ${from} . | tar -x -C "${target}"`])
}

/** Docker copies the contents of a folder, not the folder. */
const isFolder = (path: string) => (/[*.]/.test(path) ? '' : '/.')

async function runIn({ root, env, folder }: Build, command: string): Promise<void> {
  const [registry, cache] = await Promise.all(['registry', 'cache'].map(npmSetting))
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  const npm = { registry, cache: NPM_CACHE, cafile: certificates, prefer_offline: 'true' }
  const settings = Object.entries(npm).map(([name, value]) => `npm_config_${name}=${value}`)
  const variables = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...settings, 'HOME=/root']
  const steps = [
    'mount --make-rprivate /',
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mkdir -p ${root}${NPM_CACHE}`,
    `mount --bind ${cache} ${root}${NPM_CACHE}`,
    `exec chroot ${root} env -i ${variables.join(' ')} sh -c 'cd ${folder} && ${command}'`,
  ]
  await run('unshare', ['--mount', 'sh', '-ec', steps.join('\n')], { maxBuffer: 64 * 1024 * 1024 })
  await rm(join(root, NPM_CACHE), { recursive: true, force: true })
}

const npmSetting = async (name: string) => (await run('npm', ['config', 'get', name])).stdout.trim()

/** A container of an image. */
export interface Container extends Running {
  /** Runs a command in the container, as its user. Returns the exit code. */
  execute(command: readonly string[]): Promise<number>
}

/**
 * Starts the image as `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -v
 * data:/data` does. The process is the first one of its own process namespace.
 */
export async function startContainer(image: Image, data: string, settings: NodeJS.ProcessEnv): Promise<Container> {
  const { root, user, env, entrypoint } = image
  const [uid, gid] = user.split(':')
  await mkdir(data, { recursive: true })
  // A new volume gets the owner and the mode of the directory in the image.
  await run('sh', ['-c', `chown --reference=${root}/data ${data} && chmod --reference=${root}/data ${data}`])
  const variables = Object.entries({ ...env, HOME: '/', ...settings }).map(([name, value]) => `${name}=${value}`)
  const confine = `setpriv --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all`
  const asUser = (command: readonly string[]) =>
    `chroot ${root} ${confine} env -i ${variables.join(' ')} sh -c 'cd /data && exec ${command.join(' ')}'`
  const mounts = [
    'mount --make-rprivate /',
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount --bind ${data} ${root}/data`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -o remount,bind,ro ${root}`,
  ]
  const steps = [...mounts, `exec ${asUser(entrypoint)}`]
  const script = join(root, '..', 'container.sh')
  await writeFile(script, steps.join('\n'))
  const running = start({ directory: tmpdir() }, ['unshare', '--mount', '--pid', '--fork', 'sh', '-e', script], {})
  return {
    ...running,
    async execute(command) {
      const inside = await firstChild(running.child.pid)
      const enter = ['--target', inside, '--mount', '--pid', 'sh', '-c', asUser(command)]
      return run('nsenter', enter).then(
        () => 0,
        (error: { code: number }) => error.code,
      )
    },
    async stop() {
      process.kill(Number(await firstChild(running.child.pid)), 'SIGTERM')
      return running.ended
    },
  }
}

/** Returns the process that `unshare --fork` has started. */
async function firstChild(pid: number | undefined): Promise<string> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ')[0] ?? ''
}
