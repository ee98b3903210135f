import { challengeOf, removeDomain, requestDomain } from '../../../account/custom-domain/custom-domain.ts'
import type { Page } from '../../../account/page/page.ts'
import type { CustomDomain } from '../../../generated/prisma/client.ts'
import type { DomainState } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, InputField } from '../../../http/page/form.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import { currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'

/** The labels of a domain's states. */
export const domainStates = {
  PENDING: 'Waiting for the proof',
  PROVEN: 'Proven',
  LOST: 'The proof is missing',
} as const satisfies Record<DomainState, string>

/**
 * Adds the forms that request and remove the domain of a page, below the page's own path.
 * @param show shows the page again.
 */
export function domainForms(
  { action }: Screens,
  path: string,
  pageIn: (screen: Screen) => Promise<Pick<Page, 'id'>>,
  show: (screen: Screen, state: FormState) => Promise<Response>,
): void {
  const pathOf = ({ id }: Pick<Page, 'id'>) => path.replace(':id', id)
  action(
    `${path}/domain`,
    async (screen, { fields }) => {
      const page = await pageIn(screen)
      const version = readVersion(fields)
      await requestDomain(screen.ctx, { pageId: page.id, domain: fields.get('domain'), version })
      return pathOf(page)
    },
    show,
  )
  action(
    `${path}/domain/remove`,
    async (screen, { fields }) => {
      const page = await pageIn(screen)
      await removeDomain(screen.ctx, { pageId: page.id, version: readVersion(fields) })
      return pathOf(page)
    },
    show,
  )
}

/**
 * Renders the domain of a page, with its verification.
 * @param path of the page.
 */
export function DomainSection({
  screen,
  path,
  domain,
  version,
  state,
}: {
  readonly screen: Screen
  readonly path: string
  readonly domain: CustomDomain | null
  readonly version: number
  readonly state: FormState
}) {
  const name = domain?.name ?? ''
  return (
    <section>
      <h2>Domain</h2>
      {domain === null ? null : <DomainProof {...{ screen, domain }} />}
      <form method="post" action={screen.path(`${path}/domain`)} class="stack" id="domain-form">
        <EditProblem state={state} version={version} fields={['domain']} />
        <VersionField state={state} version={version} />
        <InputField
          label="Host name"
          name="domain"
          state={state}
          value={name}
          required
          placeholder="status.example.com"
          autocomplete="off"
          hint={currentValue(state, version, { name: 'domain', value: name })}
        />
        <p class="actions">
          <button type="submit" class="quiet">
            {domain === null ? 'Request' : 'Check again'}
          </button>
        </p>
      </form>
      {domain === null ? null : (
        <form method="post" action={screen.path(`${path}/domain/remove`)}>
          <VersionField state={emptyForm} version={version} />
          <input type="hidden" name="domain" value={domain.name} />
          <button type="submit" class="link">
            Remove {domain.name}
          </button>
        </form>
      )}
    </section>
  )
}

function DomainProof({ screen, domain }: { readonly screen: Screen; readonly domain: CustomDomain }) {
  const { record, file } = challengeOf(domain)
  return (
    <>
      <p>
        <strong>{domain.name}</strong>: {domainStates[domain.state]}
        {domain.checkedAt === null ? null : (
          <>
            , checked <Time at={domain.checkedAt} zone={screen.zone} />
          </>
        )}
      </p>
      {domain.state === 'PROVEN' ? null : (
        <>
          <p>Add this TXT record at your DNS provider and keep it:</p>
          <p class="secret">
            {record.name} TXT {record.value}
          </p>
          <p>
            Or serve this text at <code>{file.url}</code>:
          </p>
          <p class="secret">{file.content}</p>
        </>
      )}
    </>
  )
}
