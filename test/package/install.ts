import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The package, installed in its own folder as a user does it. */
export interface Installed {
  readonly directory: string
  /** The installed file. */
  readonly tarball: string
  /** The size of `node_modules`, in bytes. */
  readonly size: number
  /** The packages in it. */
  readonly packages: readonly string[]
  remove(): Promise<void>
}

/** Packs the repository and installs the package, without install scripts, in an empty folder. */
export async function installPackage(): Promise<Installed> {
  const directory = await mkdtemp(join(tmpdir(), 'allclear-package-'))
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', directory])
  // Output of scripts precedes it.
  const [{ filename }] = JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1))
  const tarball = resolve(directory, filename)
  const home = join(directory, 'home')
  await mkdir(home)
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...flags, tarball], { cwd: home })
  const modules = join(home, 'node_modules')
  return {
    directory: home,
    tarball,
    size: await sizeOf(modules),
    packages: await packagesOf(modules),
    remove: () => rm(directory, { recursive: true }),
  }
}

async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function packagesOf(modules: string): Promise<string[]> {
  const names = (await readdir(modules)).filter((name) => !name.startsWith('.'))
  const nested = names.map(async (name) =>
    name.startsWith('@') ? (await readdir(join(modules, name))).map((each) => `${name}/${each}`) : [name],
  )
  return (await Promise.all(nested)).flat().sort()
}

/**
 * Returns the parts of an installed package that are for one processor or system: compiled files, and platform
 * packages.
 */
export async function nativeParts({ directory }: Installed): Promise<string[]> {
  const entries = await readdir(join(directory, 'node_modules'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found = await Promise.all(files.map(async (file) => ((await isNative(file)) ? [file] : [])))
  return found.flat()
}

/** The first bytes of Linux, Windows and macOS executables. */
const MAGIC = ['7f454c46', '4d5a9000', 'cffaedfe', 'cafebabe']

async function isNative(file: string): Promise<boolean> {
  if (file.endsWith('.node')) return true
  if (basename(file) === 'package.json') {
    const { os, cpu } = JSON.parse(await readFile(file, 'utf8'))
    return os !== undefined || cpu !== undefined
  }
  const opened = await open(file)
  try {
    const { buffer } = await opened.read(Buffer.alloc(4), 0, 4)
    return MAGIC.includes(buffer.toString('hex'))
  } finally {
    await opened.close()
  }
}

/** A running program of the package. */
export interface Running {
  readonly child: ChildProcess
  /**
   * Resolves with the match once the output contains one.
   * @throws with the output if the program ends first.
   */
  wrote(pattern: RegExp): Promise<string>
  readonly ended: Promise<number | null>
  /** Sends SIGTERM to it and its children, as a terminal or a container does. Returns the exit code. */
  stop(): Promise<number | null>
}

/** Starts `allclear` with these arguments and settings only. */
export function startInstalled(installed: Installed, args: readonly string[], settings: NodeJS.ProcessEnv): Running {
  return start(installed, [programOf(installed), ...args], settings)
}

/**
 * Starts `allclear` as a container does: with a read-only root, as an unprivileged user, with only an empty data
 * directory. Needs root.
 */
export function startConfined(installed: Installed, settings: NodeJS.ProcessEnv): Running {
  const data = join(installed.directory, 'data-of-container')
  const steps = [
    `mkdir -p ${data}`,
    `chmod 755 ${installed.directory} ${dirname(installed.directory)}`,
    'mount --make-rprivate /',
    `mount -t tmpfs -o uid=10001,gid=10001,mode=700 tmpfs ${data}`,
    'mount -o remount,bind,ro /',
    `cd ${data}`,
    `exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs ${programOf(installed)}`,
  ]
  return start(installed, ['unshare', '--mount', 'sh', '-ec', steps.join('\n')], { DATA_DIR: data, ...settings })
}

/**
 * Runs the package by `npx` in an empty folder, without install scripts and with nothing installed before. Downloads
 * are cached.
 */
export async function startByNpx(installed: Installed, settings: NodeJS.ProcessEnv): Promise<Running> {
  const { stdout } = await run('npm', ['config', 'get', 'cache'])
  const folder = join(dirname(installed.directory), 'npx')
  const cache = join(dirname(installed.directory), 'npm-cache')
  await Promise.all([mkdir(folder), mkdir(cache)])
  await symlink(join(stdout.trim(), '_cacache'), join(cache, '_cacache'))
  const flags = ['--yes', '--ignore-scripts', '--prefer-offline', `--cache=${cache}`]
  return start({ directory: folder }, ['npx', ...flags, '--package', installed.tarball, 'allclear'], settings)
}

/** Starts `allclear` as the systemd unit does, with its data in a folder of the test. */
export async function startByUnit(installed: Installed, settings: NodeJS.ProcessEnv): Promise<Running> {
  const unit = await readFile('deploy/allclear.service', 'utf8')
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
  const given = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) => line.split(' '))
  const PATH = `${join(installed.directory, 'node_modules/.bin')}:${process.env['PATH']}`
  const env = { ...Object.fromEntries(given.map((each) => each.split(/=(.*)/, 2))), PATH, ...settings }
  return start(installed, command.split(' '), env)
}

const programOf = ({ directory }: Installed) => join(directory, 'node_modules/.bin/allclear')

/**
 * Prints the time that something took.
 * @param begun a time of `performance.now()`.
 */
export function printTime(begun: number, what: string): void {
  const seconds = (performance.now() - begun) / 1000
  process.stdout.write(`${seconds.toFixed(1).padStart(6)} s  ${what}\n`)
}

/** Starts a program of the package with these settings only. */
export function start(
  { directory }: Pick<Installed, 'directory'>,
  [program = '', ...args]: readonly string[],
  settings: NodeJS.ProcessEnv,
): Running {
  const { PATH, HOME } = process.env
  const child = spawn(program, args, {
    cwd: directory,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group, so that all of it can be stopped: npx does not pass on signals.
    detached: true,
  })
  let written = ''
  const readers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text
      for (const read of readers) read()
    })
  }
  const ended = once(child, 'close').then(([code]) => code)
  return {
    child,
    ended,
    stop() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
      return ended
    },
    wrote: (pattern) =>
      new Promise((found, reject) => {
        const read = () => {
          const match = pattern.exec(written)
          if (match) found(match[1] ?? match[0])
        }
        readers.add(read)
        read()
        void ended.then(() => reject(new Error(`It ended before it wrote ${pattern}:\n${written}`)))
      }),
  }
}
