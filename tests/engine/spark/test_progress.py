from types import SimpleNamespace

from shoal.engine.spark._progress import report_progress


def test_tasks_are_told_while_stages_are_under_way(spark):
    def sleep(_):
        import time

        time.sleep(1)

    told = []
    with report_progress(spark, lambda done, tasks: told.append((done, tasks))):
        spark.sparkContext.parallelize(range(4), 4).foreach(sleep)
    assert told
    assert all(done <= tasks == 4 for done, tasks in told)


def test_a_session_of_connect_is_asked_to_call_back():
    told, handlers = [], []
    session = SimpleNamespace(
        registerProgressHandler=handlers.append, removeProgressHandler=handlers.remove
    )
    stages = [SimpleNamespace(num_completed_tasks=3, num_tasks=8)] * 2
    with report_progress(session, lambda *numbers: told.append(numbers)):
        handlers[0](stages=stages, inflight_tasks=2, operation_id="x", done=False)
        handlers[0](stages=None, inflight_tasks=0, operation_id="x", done=True)
    assert told == [(6, 16)]
    assert not handlers
