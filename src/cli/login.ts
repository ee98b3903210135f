import { createClient } from '../client/index.ts'
import { parseUrl } from '../core/url.ts'
import { type Command, EXIT, Failure, textOf } from './command.ts'
import { DEFAULT_PROFILE, profilesFile, writeProfile } from './profiles.ts'

/** Stores the address of a service and a key for it. */
export const login: Command = {
  usage: '',
  summary: 'Store the address of a service and a key for it',
  details: `The key is asked for, or read from standard input: allclear login --url URL < key.txt
It is stored in a file that only you may read, so that it is in no shell history.`,
  async run(input, terminal) {
    const name = textOf(input, 'profile') ?? DEFAULT_PROFILE
    const url = textOf(input, 'url') ?? (await terminal.ask('Address of the service: '))?.trim()
    if (!url || parseUrl(url) === null)
      throw new Failure('Give the address of the service: --url https://status.example.com')
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
