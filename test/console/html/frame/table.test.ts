import { expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'

const { organization } = await testConsole()
const { signIn } = await organization('tables')

test.each([
  ['plan', 'Limits'],
  ['keys', 'API keys'],
  ['log', 'Log'],
  ['pages', 'Status pages'],
])('the table of %s can be scrolled by the keyboard, and says what it lists', async (path, label) => {
  const { html } = await (await signIn('OWNER')).get(path)
  expect(html).toContain(`<section class="table-scroll" aria-label="${label}" tabindex="0"><table>`)
})
