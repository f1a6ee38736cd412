// Workflows and tasks with the npm package unchanged: both models from their start to their end, as several people.
// Arguments as of spine.js.
const assert = require('node:assert/strict');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);

const serial = 'SerialDocumentReview';
const parallel = 'ParallelDocumentReview';
const status = (wanted) => (e) => e.response.status === wanted;
const client = (name, secret) => new Nuxeo({ baseURL, auth: { method: 'basic', username: name, password: secret } });

// only is the one task of somebody in a workflow.
async function only(nuxeo, workflow, actorId) {
  const { entries } = await nuxeo.workflows().fetchTasks({ actorId, workflowInstanceId: workflow.id });
  assert.equal(entries.length, 1);
  return entries[0];
}

const actions = (task) => task.taskInfo.taskActions.map((a) => [a.name, a.validate]);

async function serialReview(nuxeo, fry, doc) {
  const workflow = await doc.startWorkflow(serial);
  assert.equal(workflow['entity-type'], 'workflow');
  assert.deepEqual([workflow.workflowModelName, workflow.state, workflow.initiator], [serial, 'running', username]);
  assert.deepEqual(workflow.attachedDocumentIds, [{ id: doc.uid }]);
  assert.deepEqual(workflow.variables, { index: 0, initiatorComment: null, participants: [], validationOrReview: 'validation' });
  assert.equal((await doc.fetchWorkflows()).entries[0].id, workflow.id);
  assert.equal((await nuxeo.workflows().fetch(workflow.id)).title, 'wf.serialDocumentReview.SerialDocumentReview');
  const graph = await workflow.fetchGraph();
  assert.equal(graph['entity-type'], 'graph');
  assert.equal(graph.nodes.find((n) => n.id === 'Task38e').state, 'suspended');
  assert.ok(graph.transitions.length > 3);

  const choose = (await workflow.fetchTasks()).entries[0];
  assert.equal(choose.nodeName, 'Task38e');
  assert.deepEqual(actions(choose), [['cancel', false], ['start_review', true]]);
  assert.deepEqual(Object.keys(choose.variables).sort(), ['comment', 'participants', 'validationOrReview']);
  const five = new Date(choose.dueDate) - new Date(choose.created);
  assert.ok(Math.abs(five - 5 * 24 * 3600 * 1000) < 60000, choose.dueDate);
  await assert.rejects(fry.workflows().fetch(workflow.id), status(404));
  await assert.rejects(fry.request('task').path(choose.id).put({ body: {} }), status(405));
  await assert.rejects(fry.request(`task/${choose.id}/start_review`).put({ body: { 'entity-type': 'task' } }), status(404));
  await assert.rejects(choose.complete('approve'), status(400));
  assert.deepEqual((await fry.workflows().fetchTasks()).entries, []);

  const ended = await choose.variable('participants', ['user:fry', `user:${username}`])
    .complete('start_review', { comment: 'a comment' });
  assert.deepEqual([ended.state, ended.comments[0].text, ended.comments[0].author], ['ended', 'a comment', username]);
  await assert.rejects(choose.complete('start_review'), status(409));

  // the first participant sends it back, the initiator submits it again
  const first = await only(fry, workflow);
  assert.equal(first.nodeName, 'Task6d8');
  assert.equal(first.variables.initiatorComment, 'a comment');
  assert.deepEqual(actions(first), [['reject', true], ['validate', true]]);
  assert.equal((await first.complete('reject', { variables: { comment: 'not yet' } })).state, 'ended');
  const update = await only(nuxeo, workflow);
  assert.equal(update.nodeName, 'Task542');
  assert.deepEqual(actions(update), [['cancel', true], ['submit', true]]);
  await update.complete('submit', { variables: { comment: 'once more', unknown: [1] } });

  // delegated, then given to somebody else
  const second = await only(fry, workflow);
  await second.delegate(['user:amy', 'group:members'], { comment: 'help' });
  await assert.rejects(second.delegate('user:nobody'), status(400));
  const delegated = await only(nuxeo, workflow);
  assert.deepEqual(delegated.delegatedActors, [{ id: 'user:amy' }, { id: 'group:members' }]);
  await second.reassign(username, { comment: 'yours' });
  assert.deepEqual((await fry.workflows().fetchTasks()).entries, []);
  const mine = await only(nuxeo, workflow);
  assert.deepEqual([mine.id, mine.actors, mine.delegatedActors], [second.id, [{ id: `user:${username}` }], []]);
  await mine.complete('validate');
  const last = await only(nuxeo, workflow, username);
  assert.equal((await last.complete('validate')).workflowLifeCycleState, 'done');
  assert.deepEqual((await doc.fetchWorkflows()).entries, []);
  assert.deepEqual((await nuxeo.workflows().fetchStartedWorkflows(serial)).entries, []);
}

async function parallelReview(nuxeo, fry, doc) {
  const workflow = await nuxeo.workflows().start(parallel, { attachedDocumentIds: [doc.uid], variables: { initiatorComment: 'please' } });
  assert.deepEqual(Object.keys(workflow.variables).sort(),
    ['end_date', 'initiatorComment', 'participants', 'review_result', 'review_result_file', 'validationOrReview']);
  const choose = (await workflow.fetchTasks()).entries[0];
  assert.equal(choose.nodeName, 'Task2556');
  await choose.complete('start_review', { variables: { participants: ['user:fry', 'user:amy', `user:${username}`], end_date: '2011-10-23T12:00:00.00Z' } });

  const opinion = await only(fry, workflow);
  assert.equal(opinion.nodeName, 'Task328d');
  assert.equal(opinion.dueDate, '2011-10-23T12:00:00.000Z');
  assert.deepEqual(actions(opinion), [['NA', true], ['approve', true], ['reject', true]]);
  await opinion.complete('approve', { variables: { comment: 'fine' } });
  await (await only(client('amy', 'two'), workflow)).complete('NA');
  await (await only(nuxeo, workflow, username)).complete('reject', { variables: { comment: 'no' } });

  const consolidate = await only(nuxeo, workflow);
  assert.equal(consolidate.nodeName, 'Task2169');
  assert.deepEqual(actions(consolidate), [['reject', true], ['validate', true]]);
  assert.deepEqual((await nuxeo.workflows().fetchStartedWorkflows()).entries.map((w) => w.id), [workflow.id]);
  await consolidate.complete('validate');
  assert.equal((await nuxeo.repository().fetch(doc.uid)).state, 'approved');
}

// around covers what documents and lists say of workflows.
async function around(nuxeo, doc) {
  const ask = { enrichers: { document: ['runnableWorkflows', 'runningWorkflows', 'pendingTasks'] } };
  const of = async () => (await nuxeo.repository().fetch(doc.uid, ask)).contextParameters;
  let now = await of();
  assert.deepEqual(now.runnableWorkflows.map((w) => w.workflowModelName), [parallel, serial]);
  assert.deepEqual([now.runningWorkflows, now.pendingTasks], [[], []]);
  const workflow = await nuxeo.workflows().start(serial, { attachedDocumentIds: [doc.uid] });
  now = await of();
  assert.equal(now.runningWorkflows[0].id, workflow.id);
  assert.equal(now.pendingTasks[0].workflowInstanceId, workflow.id);

  const whole = await nuxeo.request(`task/${now.pendingTasks[0].id}`).fetchProperties({ task: ['actors', 'targetDocumentIds', 'workflowInitiator'] }).get();
  assert.deepEqual([whole.actors[0]['entity-type'], whole.targetDocumentIds[0].uid, whole.workflowInitiator.id], ['user', doc.uid, username]);
  const started = await nuxeo.workflows().fetch(workflow.id, { fetchProperties: { workflow: ['initiator', 'attachedDocumentIds'] } });
  assert.deepEqual([started.initiator.id, started.attachedDocumentIds[0].uid], [username, doc.uid]);

  const page = await nuxeo.request('task').queryParams({ pageSize: 1 }).get();
  assert.deepEqual([page.pageSize, page.entries.length, page.resultsCount], [1, 1, 1]);
  assert.equal((await nuxeo.workflows().delete(workflow.id)).status, 204);
  assert.deepEqual((await of()).runningWorkflows, []);
  assert.deepEqual((await nuxeo.workflows().fetchTasks()).entries, []);

  const models = await nuxeo.request('workflowModel').get();
  assert.deepEqual(models.entries.map((m) => m.name), [parallel, serial]);
  assert.equal((await nuxeo.request(`workflowModel/${serial}`).get()).workflowModelName, serial);
  assert.ok((await nuxeo.request(`workflowModel/${serial}/graph`).get()).nodes.length > 3);
  await assert.rejects(nuxeo.request('workflowModel/nothing').get(), status(404));
  await assert.rejects(nuxeo.workflows().start('nothing'), status(400));
  await assert.rejects(nuxeo.request('task/nothing').get(), status(404));
}

async function main() {
  const nuxeo = client(username, password);
  await nuxeo.connect();
  await nuxeo.users().create({ 'entity-type': 'user', properties: { username: 'fry', password: 'one' } });
  await nuxeo.users().create({ 'entity-type': 'user', properties: { username: 'amy', password: 'two' } });
  const body = { 'entity-type': 'document', type: 'File', name: 'reviewed', properties: { 'dc:title': 'Reviewed' } };
  const doc = await nuxeo.repository().create('/default-domain/workspaces', body);
  const fry = client('fry', 'one');
  await around(nuxeo, doc);
  await serialReview(nuxeo, fry, doc);
  const after = await nuxeo.repository().fetch(doc.uid, { enrichers: { document: ['runnableWorkflows'] } });
  assert.deepEqual([after.state, after.contextParameters.runnableWorkflows], ['approved', []]);
  await assert.rejects(after.startWorkflow(serial), status(400));
  await nuxeo.operation('Document.FollowLifecycleTransition').input(doc.uid).params({ value: 'backToProject' }).execute();
  await parallelReview(nuxeo, fry, doc);
  await nuxeo.repository().delete(doc.uid);
  for (const path of ['/document-route-instances-root', '/task-root']) await nuxeo.repository().delete(path);
  const again = await nuxeo.workflows().start(parallel);
  assert.deepEqual((await nuxeo.workflows().delete(again.id)).status, 204);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
