import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The package, installed in a folder of its own as its user does. */
export interface Installed {
  readonly directory: string
  /** How large `node_modules` is, in bytes. */
  readonly size: number
  /** The packages in it. */
  readonly packages: readonly string[]
  remove(): Promise<void>
}

/** Packs the repository and installs the package, without install scripts, in an empty folder. */
export async function installPackage(): Promise<Installed> {
  const directory = await mkdtemp(join(tmpdir(), 'allclear-package-'))
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', directory])
  // What the scripts print comes before it.
  const [{ filename }] = JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1))
  const home = join(directory, 'home')
  await run('mkdir', [home])
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...flags, resolve(directory, filename)], { cwd: home })
  const modules = join(home, 'node_modules')
  return {
    directory: home,
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

/** A program of the package that runs. */
export interface Running {
  readonly child: ChildProcess
  /** Resolves with the match once it has written one. @throws with what it wrote when it ends before. */
  wrote(pattern: RegExp): Promise<string>
  readonly ended: Promise<number | null>
}

/** Starts `allclear` with these arguments and settings, and no others. */
export function startInstalled(installed: Installed, args: readonly string[], settings: NodeJS.ProcessEnv): Running {
  return start(installed, [programOf(installed), ...args], settings)
}

/**
 * Starts `allclear` as a container does: in a root that it cannot write to, as a user without rights, with nothing but an empty
 * data directory of its own. Needs root.
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

const programOf = ({ directory }: Installed) => join(directory, 'node_modules/.bin/allclear')

function start(
  { directory }: Installed,
  [program = '', ...args]: readonly string[],
  settings: NodeJS.ProcessEnv,
): Running {
  const { PATH, HOME } = process.env
  const child = spawn(program, args, {
    cwd: directory,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
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
