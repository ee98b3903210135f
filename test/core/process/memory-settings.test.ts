import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { setMemorySettings } from '../../../src/core/process/memory-settings.ts'

const node = {
  platform: 'linux',
  execPath: '/node',
  execArgv: ['--inspect'],
  argv: ['/node', '/allclear', 'serve'],
} as const

function started(options: Partial<Parameters<typeof setMemorySettings>[0]>) {
  const calls: { file: string; args: readonly string[]; env: NodeJS.ProcessEnv }[] = []
  const execve = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => void calls.push({ file, args, env })
  setMemorySettings({ ...node, env: { PORT: '1' }, execve, ...options })
  return calls
}

test('restarts the program unchanged, with the settings of npm start, the image and the unit', () => {
  const [call, ...more] = started({})
  expect(more).toEqual([])
  expect(call).toMatchObject({
    file: '/node',
    args: ['/node', '--v8-pool-size=1', '--inspect', '/allclear', 'serve'],
    env: { PORT: '1' },
  })
  const set = Object.entries(call?.env ?? {}).filter(([name]) => name.startsWith('MALLOC_'))
  expect(set).toHaveLength(3)
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }
  const others = [
    scripts.start,
    ...['Dockerfile', 'allclear.service'].map((name) => readFileSync(`deploy/${name}`, 'utf8')),
  ]
  for (const text of others) {
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

test('does nothing if Node.js cannot', () => {
  expect(() => setMemorySettings({ ...node, env: {} })).not.toThrow()
})
