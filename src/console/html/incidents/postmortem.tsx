import { raw } from 'hono/html'
import { htmlOf } from '../../../core/markdown/markdown-rendering.ts'
import type { Incident, Postmortem } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm } from '../../../http/page/form.tsx'
import { findIncident } from '../../../status/incident/incident.ts'
import {
  awaitsReview,
  canPublish,
  deletePostmortem,
  draftFromTimeline,
  publishPostmortem,
  readPostmortem,
  savePostmortem,
  unpublishPostmortem,
} from '../../../status/incident/postmortem.ts'
import type { ReviewerNames } from '../../../status/incident/postmortem-review.ts'
import {
  approvePostmortem,
  cancelPostmortemReview,
  mayApprove,
  readReviewers,
  requestPostmortemReview,
} from '../../../status/incident/postmortem-review.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { previewMessage } from '../../../status/timeline/message-preview.ts'
import { Time } from '../../../status-page/html/time.tsx'
import {
  ConfirmDeletion,
  currentValue,
  EditProblem,
  MessageField,
  NotifySubscribersField,
  PreviewButton,
  readNotifySubscribers,
  readVersion,
  VersionField,
} from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'

/** Adds the pages that write, publish and delete the post-mortem of an incident. */
export function postmortemScreens({ form, action }: Screens): void {
  form('incidents/:id/postmortem', (screen, state) => showPostmortem(screen, state, null), save)
  form('incidents/:id/postmortem/delete', showDeletion, async (screen) => {
    await deletePostmortem(screen.ctx, idIn(screen))
    return `incidents/${idIn(screen)}`
  })
  const show = (screen: Screen, state: FormState) => showPostmortem(screen, state, null)
  action('incidents/:id/postmortem/publish', publish, show)
  action(
    'incidents/:id/postmortem/unpublish',
    async (screen) => back(await unpublishPostmortem(screen.ctx, idIn(screen))),
    show,
  )
  action(
    'incidents/:id/postmortem/request-review',
    async (screen) => back(await requestPostmortemReview(screen.ctx, idIn(screen))),
    show,
  )
  action('incidents/:id/postmortem/approve', approve, (screen, { problem }) => show(screen, { ...emptyForm, problem }))
  action(
    'incidents/:id/postmortem/cancel-review',
    async (screen) => back(await cancelPostmortemReview(screen.ctx, idIn(screen))),
    show,
  )
}

async function approve(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  return back(await approvePostmortem(screen.ctx, { incidentId: idIn(screen), version: readVersion(fields) }))
}

async function publish(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const notifySubscribers = readNotifySubscribers(fields)
  return back(await publishPostmortem(screen.ctx, { incidentId: idIn(screen), notifySubscribers }))
}

const back = ({ id }: Postmortem) => `incidents/${id}/postmortem`

async function save(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const incidentId = idIn(screen)
  if (fields.has('draft')) {
    const drafted = new URLSearchParams(fields)
    drafted.set('message', await draftFromTimeline(screen.ctx, incidentId))
    return showPostmortem(screen, { fields: drafted, problem: null }, null)
  }
  const content = { message: fields.get('message') ?? '', translations: readTranslations(fields) }
  if (fields.has('preview'))
    return showPostmortem(screen, { fields, problem: null }, await previewMessage(screen.ctx, content))
  return back(await savePostmortem(screen.ctx, { incidentId, ...content, version: readVersion(fields) }))
}

async function showPostmortem(screen: Screen, state: FormState, preview: MessagePreview | null): Promise<Response> {
  const incident = await findIncident(screen.ctx, screen.organization.id, idIn(screen))
  const postmortem = await readPostmortem(screen.ctx, incident)
  const reviewers = await readReviewers(screen.ctx.db, postmortem)
  const content = <Whole {...{ screen, state, preview, incident, postmortem, reviewers }} />
  return screen.show({ title: `Post-mortem: ${incident.title}`, section: 'incidents', content }, state)
}

interface Props {
  readonly screen: Screen
  readonly state: FormState
  readonly preview: MessagePreview | null
  readonly incident: Incident
  /** Null: none. */
  readonly postmortem: Postmortem | null
  readonly reviewers: ReviewerNames
}

function Whole({ screen, state, preview, incident, postmortem, reviewers }: Props) {
  const path = screen.path(`incidents/${incident.id}`)
  const version = postmortem?.version ?? 0
  const message = postmortem?.message ?? ''
  return (
    <>
      <p>
        <a href={path}>{incident.title}</a>
      </p>
      <Standing {...{ screen, incident, postmortem }} />
      {postmortem === null ? null : <Review {...{ screen, postmortem, reviewers }} />}
      <form method="post" action={`${path}/postmortem`} class="stack composer" id="postmortem">
        <EditProblem state={state} version={version} fields={['message', TRANSLATIONS]} />
        {postmortem === null ? null : <VersionField state={state} version={version} />}
        <MessageField
          state={state}
          preview={preview}
          value={message}
          hint={currentValue(state, version, { name: 'message', value: message })}
          rows={16}
        />
        <TranslationFields
          {...{ screen, state }}
          texts={['message']}
          {...(postmortem && { messages: postmortem.translations, version })}
        />
        <p class="actions">
          <button type="submit">{postmortem?.publishedAt ? 'Save and show' : 'Save draft'}</button>
          <PreviewButton />
          <button type="submit" name="draft" value="true" class="quiet" formnovalidate>
            {message === '' ? 'Draft from the timeline' : 'Replace with the timeline'}
          </button>
        </p>
      </form>
    </>
  )
}

/** Shows who can see the post-mortem, with the buttons that change it. */
function Standing({ screen, incident, postmortem }: Pick<Props, 'screen' | 'incident' | 'postmortem'>) {
  if (postmortem === null) return <p>Only members see it until you publish it.</p>
  const { publishedAt } = postmortem
  const path = screen.path(`incidents/${incident.id}/postmortem`)
  return (
    <>
      <p>
        {publishedAt === null ? (
          `A draft${canPublish(incident) ? ': only members see it.' : '. It can be published once the incident is public and resolved.'}`
        ) : (
          <>
            Published <Time at={publishedAt} zone={screen.zone} />. What you save is shown at once.
          </>
        )}
      </p>
      <div class="actions">
        {publishedAt !== null || (canPublish(incident) && !awaitsReview(postmortem)) ? (
          <PublicationForm path={path} isPublished={publishedAt !== null} />
        ) : null}
        <a class="button quiet" href={`${path}/delete`}>
          Delete
        </a>
      </div>
    </>
  )
}

function PublicationForm({ path, isPublished }: { readonly path: string; readonly isPublished: boolean }) {
  return (
    <form method="post" action={`${path}/${isPublished ? 'unpublish' : 'publish'}`}>
      {isPublished ? null : <NotifySubscribersField state={emptyForm} />}
      <button type="submit" class={isPublished ? 'quiet' : undefined}>
        {isPublished ? 'Make it a draft again' : 'Publish the saved text'}
      </button>
    </form>
  )
}

interface ReviewProps extends Pick<Props, 'screen' | 'reviewers'> {
  readonly postmortem: Postmortem
}

/** Shows the state of the review, with the buttons that request, approve and cancel it. */
function Review({ screen, postmortem, reviewers }: ReviewProps) {
  const { id, publishedAt, reviewRequestedAt } = postmortem
  if (publishedAt !== null && reviewRequestedAt === null) return null
  const path = screen.path(`incidents/${id}/postmortem`)
  return (
    <section id="review">
      <ReviewStanding {...{ screen, postmortem, reviewers }} />
      {awaitsReview(postmortem) && !mayApprove(screen.ctx, postmortem) ? (
        <p>A member other than the last editor and the person who requested the review approves it.</p>
      ) : null}
      <div class="actions">
        {reviewRequestedAt === null ? (
          <form method="post" action={`${path}/request-review`}>
            <button type="submit" class="quiet">
              Request a review
            </button>
          </form>
        ) : null}
        {mayApprove(screen.ctx, postmortem) ? (
          <form method="post" action={`${path}/approve`}>
            <VersionField state={emptyForm} version={postmortem.version} />
            <button type="submit">Approve the saved text</button>
          </form>
        ) : null}
        {reviewRequestedAt === null ? null : (
          <form method="post" action={`${path}/cancel-review`}>
            <button type="submit" class="quiet">
              Cancel the review
            </button>
          </form>
        )}
      </div>
    </section>
  )
}

/** Names the person who requested the review, or approved the text. */
function ReviewStanding({ screen, postmortem, reviewers }: ReviewProps) {
  const { reviewRequestedAt, reviewRequestedById, reviewedAt, reviewedById } = postmortem
  const by = (id: string | null) => {
    const name = id === null ? undefined : reviewers.get(id)
    return name === undefined ? null : ` by ${name}`
  }
  if (reviewRequestedAt === null) return null
  if (reviewedAt !== null)
    return (
      <p>
        Approved <Time at={reviewedAt} zone={screen.zone} />
        {by(reviewedById)}. {postmortem.publishedAt === null ? 'A changed text needs a new approval.' : null}
      </p>
    )
  return (
    <p>
      Review requested <Time at={reviewRequestedAt} zone={screen.zone} />
      {by(reviewRequestedById)}. {postmortem.publishedAt === null ? 'It can be published once it is approved.' : null}
    </p>
  )
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const incident = await findIncident(screen.ctx, screen.organization.id, idIn(screen))
  const content = (
    <ConfirmDeletion state={state} what={incident.title} back={screen.path(`incidents/${incident.id}/postmortem`)}>
      <p>Its post-mortem is deleted in all languages, and removed from the status page.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete the post-mortem', section: 'incidents', content }, state)
}

/** Renders the post-mortem on the page of its incident in the console. */
export function PostmortemPart({
  screen,
  incident,
  postmortem,
  reviewers,
}: Pick<Props, 'screen' | 'postmortem' | 'reviewers'> & { readonly incident: Pick<Incident, 'id' | 'visibility'> }) {
  const mayWrite = screen.may('WRITE') && incident.visibility !== 'MERGED'
  if (postmortem === null && !mayWrite) return null
  return (
    <section id="postmortem">
      <h2>Post-mortem</h2>
      {postmortem === null ? null : (
        <>
          <p>
            {postmortem.publishedAt === null ? (
              'A draft: only members see it.'
            ) : (
              <>
                Published <Time at={postmortem.publishedAt} zone={screen.zone} />
              </>
            )}
          </p>
          <ReviewStanding {...{ screen, postmortem, reviewers }} />
          <div class="prose" dir="auto">
            {raw(htmlOf(postmortem))}
          </div>
        </>
      )}
      {mayWrite ? (
        <p class="actions">
          <a class="button quiet" href={screen.path(`incidents/${incident.id}/postmortem`)}>
            {postmortem === null ? 'Write a post-mortem' : 'Edit, review or publish'}
          </a>
        </p>
      ) : null}
    </section>
  )
}
