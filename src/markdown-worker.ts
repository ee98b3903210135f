/** Renders messages in a thread of its own: a hostile one takes seconds. */
import { renderMarkdown } from './markdown.ts'
import { answerTasks } from './task-worker.ts'

answerTasks(renderMarkdown)
