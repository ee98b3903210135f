import { updatePageEmbedding } from '../../../account/page/embedding.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { TextField } from '../../../http/page/form.tsx'
import { embedSnippet } from '../../../http/page/snippet.tsx'
import { wordsOf } from '../../../language/catalogue.ts'
import { currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { pageIn } from './page-fields.tsx'

/** Adds the screen for the sites that may embed a page's status line. */
export function pageEmbedScreens({ form }: Screens): void {
  form('pages/:id/embed', showEmbed, async (screen, { fields }) => {
    const { id: pageId } = await pageIn(screen)
    const origins = (fields.get('origins') ?? '').split(/[\s,]+/).filter((each) => each !== '')
    await updatePageEmbedding(screen.ctx, { pageId, origins, version: readVersion(fields) })
    return `pages/${pageId}/embed`
  })
}

async function showEmbed(screen: Screen, state: FormState): Promise<Response> {
  const page = await pageIn(screen)
  const { version, embedOrigins } = page
  const { site } = screen.ctx
  const value = embedOrigins.join('\n')
  const snippet = embedSnippet(`${site.baseUrl}/status/${page.slug}/embed`, wordsOf('EN').page.feed(page.name))
  const content = (
    <>
      <form method="post" class="stack" id="embed">
        <EditProblem state={state} version={version} fields={['origins']} />
        <VersionField state={state} version={version} />
        <TextField
          label="Sites"
          name="origins"
          state={state}
          value={value}
          rows={4}
          placeholder="https://www.example.com"
          hint={currentValue(state, version, {
            name: 'origins',
            value,
            hint: 'One per line, at most 20. On other sites, the frame is empty.',
          })}
        />
        <p class="actions">
          <button type="submit">Save</button>
        </p>
      </form>
      <section>
        <h2>On the site</h2>
        <p>Paste this where the status line should appear. It has no scripts and sets no cookies.</p>
        <pre tabindex={0}>
          <code>{snippet}</code>
        </pre>
        <p>
          Add <code>?theme=light</code> or <code>?theme=dark</code> to its address for one theme, and{' '}
          <code>?language=de</code> for another language of the page.
        </p>
      </section>
    </>
  )
  const actions = <a href={`/status/${page.slug}/embed`}>View status line</a>
  return screen.show({ title: `Status line of ${page.name}`, section: 'page', content, actions }, state)
}
