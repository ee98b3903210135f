import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { restartWithMemorySettings } from '../../../src/core/process/memory-settings.ts'
import { temporaryDirectory } from '../../support/scratch.ts'

const run = promisify(execFile)

const node = {
  platform: 'linux',
  execPath: '/node',
  execArgv: ['--inspect'],
  argv: ['/node', '/allclear', 'serve'],
} as const

function started(options: Partial<Parameters<typeof restartWithMemorySettings>[0]>) {
  const calls: { file: string; args: readonly string[]; env: NodeJS.ProcessEnv }[] = []
  const execve = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => void calls.push({ file, args, env })
  restartWithMemorySettings({ ...node, env: { PORT: '1' }, execve, ...options })
  return calls
}

test('restarts the program unchanged, with the settings of the image and the unit', () => {
  const [call, ...more] = started({})
  expect(more).toEqual([])
  expect(call).toMatchObject({
    file: '/node',
    args: ['/node', '--v8-pool-size=1', '--inspect', '/allclear', 'serve'],
    env: { PORT: '1' },
  })
  const set = Object.entries(call?.env ?? {}).filter(([name]) => name.startsWith('MALLOC_'))
  expect(set).toHaveLength(3)
  for (const name of ['Dockerfile', 'allclear.service']) {
    const text = readFileSync(`deploy/${name}`, 'utf8')
    expect(text).toContain(set.map((pair) => pair.join('=')).join(' '))
    expect(text).toContain('--v8-pool-size=1')
  }
  for (const file of ['CHANGELOG.md', 'docs/deployment.md']) {
    const text = readFileSync(file, 'utf8')
    for (const pair of set) expect(text, file).toContain(`\`${pair.join('=')}\``)
    expect(text, file).toContain('`--v8-pool-size=1`')
  }
})

test.each([
  ['once they are set', { env: { MALLOC_ARENA_MAX: '2' } }],
  ['where someone has set one', { env: { MALLOC_TRIM_THRESHOLD_: '1' } }],
  ['on another system', { platform: 'darwin' as const }],
])('does nothing %s', (_, options) => {
  expect(started(options)).toEqual([])
})

test('restarts the program in a second process if Node.js cannot do it in the same one', async () => {
  const print = 'console.log(JSON.stringify([process.execArgv, process.env, process.argv.slice(1)]))'
  const current = { ...node, execPath: process.execPath, execArgv: ['--no-warnings'], env: { PORT: '1' } }
  const folder = await temporaryDirectory()
  onTestFinished(folder.remove)
  const file = join(folder.path, 'print.mjs')
  await writeFile(file, print)
  const code = `
    import { restartWithMemorySettings } from '${new URL('../../../src/core/process/memory-settings.ts', import.meta.url)}'
    restartWithMemorySettings({ ...${JSON.stringify(current)}, argv: ['', ${JSON.stringify(file)}, 'serve'] })`
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code])
  const [execArgv, env, argv] = JSON.parse(stdout)
  expect(execArgv).toEqual(['--v8-pool-size=1', '--no-warnings'])
  expect(env).toMatchObject({ PORT: '1', MALLOC_ARENA_MAX: '2' })
  expect(argv).toEqual([file, 'serve'])
})
