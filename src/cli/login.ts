import { createClient } from '../client/index.ts'
import { parseUrl } from '../core/url.ts'
import { type Command, EXIT, Failure, textOf } from './command.ts'
import { DEFAULT_PROFILE, profilesFile, writeProfile } from './profiles.ts'

/** Stores the address of a service and a key for it. */
export const login: Command = {
  usage: '',
  summary: 'Store the address of a service and a key for it',
  details: `Asks for the key, or reads it from standard input: allclear login --url URL < key.txt
Stores it in a file that only you can read, which keeps it out of your shell history.`,
  examples: [
    'allclear login --url https://status.example.com',
    'allclear login --url https://status.example.com --profile work < key.txt',
  ],
  exitCodes: { 0: 'stored' },
  async run(input, terminal) {
    const name = textOf(input, 'profile') ?? DEFAULT_PROFILE
    const url = textOf(input, 'url') ?? (await terminal.ask('Address of the service: '))?.trim()
    if (!url || parseUrl(url) === null)
      throw new Failure('The address of the service is required: --url https://status.example.com')
    const key = (await terminal.ask('API key (empty for public data only): ', true))?.trim()
    if (key) {
      const { organization } = await createClient({ url, key }).request<{ organization: { name: string } }>(
        'query { organization { name } }',
      )
      terminal.say(`The key belongs to ${organization.name}.`)
    }
    await writeProfile(terminal.env, name, { url, ...(key && { key }) })
    terminal.say(`Stored as profile “${name}” in ${profilesFile(terminal.env)}.`)
    return EXIT.ok
  },
}
