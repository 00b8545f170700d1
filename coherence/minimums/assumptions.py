"""Lists the assumptions of bounds: what each one says of the system, and what measurement refutes it.

A bound that is measured to be too high refutes one of its assumptions; a residual below zero is told as that.
"""

from __future__ import annotations

from dataclasses import dataclass

from coherence.base.errors import UsageError, did_you_mean


@dataclass(frozen=True)
class Assumption:
    """`says`: what is taken for granted.  `refuted_by`: what a measurement shows where it does not hold.

    `ideal`: it only makes things better than they are, so that nothing beats a floor for the want of it.
    """

    name: str
    says: str
    refuted_by: str
    ideal: bool = False


_ALL = (
    Assumption("end_point_reduction", "only end points add numbers; switches forward them",
               "a bus bandwidth above the link's: switches reduce (in-network reduction)"),
    Assumption("full_duplex", "each link carries its rate in both directions at once",
               "less than the rate each way", ideal=True),
    Assumption("one_port", "an end point sends one and receives one message at a time", "several links used at once"),
    Assumption("uncompressed", "every byte of the data crosses the wire", "less traffic than data: compression"),
    Assumption("balanced", "every member holds an equal share", "shares that differ"),
    Assumption("flush", "the pipeline drains at the end of each step (synchronous update)", "steps that overlap"),
    Assumption("no_interleave", "each stage is one contiguous block of layers", "virtual stages"),
    Assumption("unsplit_backward", "input and weight gradients are computed together", "a split backward pass"),
    Assumption("iid", "durations are independent and alike", "correlated or unlike members"),
    Assumption("exponential", "times are exponential", "a coefficient of variation that is not one"),
    Assumption("normal", "times are normal", "a heavy tail"),
    Assumption("lognormal", "logarithms of times are normal", "another law of the times"),
    Assumption("poisson", "arrivals are a Poisson process", "an index of dispersion that is not one"),
    Assumption("work_conserving", "no server idles while work it could do waits", "idle servers beside a queue"),
    Assumption("fcfs", "first come, first served", "overtaking"),
    Assumption("one_queue", "all servers share one queue", "a queue at each server"),
    Assumption("independent_failures", "tries fail independently", "failures that come together"),
    Assumption("same_cause", "every layer retries the same failures", "a cause that one layer does not retry"),
    Assumption("abandoned_work_is_served", "a try that timed out is still served", "cancellation"),
    Assumption("full_recompute", "lost work since the last checkpoint is done again", "partial recovery"),
    Assumption("blocking_checkpoint", "work stands while a checkpoint is written", "asynchronous checkpoints"),
    Assumption("peak_rates", "units work at their stated peak", "a rate above the data sheet's"),
    Assumption("weights_read_once", "a step reads all weights and cached numbers from memory", "weights kept on chip"),
    Assumption("dense_model", "every weight takes part in every token", "experts or sparsity"),
    Assumption("stateless_api", "each call sends its whole context again", "a stateful interface"),
    Assumption("no_prompt_cache", "no prefix is kept between calls", "cached tokens in the bill"),
    Assumption("every_token_read", "each new token is read at least once", "tokens dropped unread"),
    Assumption("linear_plant", "the plant is linear near its operating point", "saturation, or a change of mode"),
    Assumption("linear_law", "the controller is linear, and does not change with time",
               "resets, or gains that depend on size or time"),
    Assumption("stable_inverse", "the plant has no zero in the right half plane", "an inverse response"),
    Assumption("selfish_routing", "each user takes the path that is shortest for itself", "central assignment"),
    Assumption("affine_latency", "latency grows linearly with load", "a queue near saturation"),
    Assumption("reliable_messages", "messages are neither lost nor corrupted", "loss", ideal=True),
    Assumption("gaussian_readings", "readings are independent normal numbers", "autocorrelated readings"),
    Assumption("offline_optimum", "the future is known to the optimum it is compared with",
               "none: a comparison", ideal=True),
    Assumption("atomic_items", "an item lies whole in one bin", "items that are split"),
    Assumption("fluid", "traffic is divisible and its rates are constant",
               "packets larger than the buffers", ideal=True),
    Assumption("no_latency", "a message takes no time beyond its bytes over the rate",
               "a fixed time per message", ideal=True),
    Assumption("blind", "the order of service does not depend on how long a request will take", "shortest first"),
    Assumption("patient", "every request waits until it is served", "time-outs, or callers that give up"),
    Assumption("no_waiting", "what finds every server busy is lost", "a queue before the servers"),
    Assumption("dependent_steps", "each step needs what the steps before it gave", "speculation, or parallel steps"),
    Assumption("gain_law", "a command changes in proportion to the error that is read", "prediction, feed-forward"),
    Assumption("available_bandwidth", "beyond it a loop neither damps nor amplifies", "loop gain beyond that band"),
    Assumption("strictly_proper", "a reading shows earlier commands only", "feed-through within one sample"),
    Assumption("uniform_samples", "readings are taken at one fixed period", "random or several sampling times"),
    Assumption("silent_crash", "a failed process is known by its silence alone", "a reset connection, a host's report"),
    Assumption("own_queues", "each server has its own queue", "a queue that servers share"),
    Assumption("known_laws", "the laws of readings before and after the change are known", "a law that is estimated"),
    Assumption("equal_items", "every item takes one slot and costs one fetch", "items of several sizes"),
    Assumption("deterministic_policy", "the policy draws no lots", "a randomised policy"),
    Assumption("crash_faults", "a process fails by stopping", "none: other faults cost more", ideal=True),
    Assumption("any_proposer", "any process may propose, not one leader only", "one fixed proposer beside the others"),
    Assumption("no_false_suspicion", "no process that runs is suspected", "suspicions of processes that run"),
    Assumption("constant_dirtying", "memory is written at a constant rate", "a rate of writes that changes"),
    Assumption("same_dirty_pages", "what is written between two rounds is sent again", "skipped or compressed pages"),
    Assumption("barrier_each_step", "every step ends only when all members have ended it", "members that go ahead"),
    Assumption("own_time_unchanged", "who works when does not change how long it takes", "work moved to fast members"),
    Assumption("whole_job_stops", "a failure of one part stops all work until the restart is over",
               "work that goes on without the failed part"),
    Assumption("long_work", "the work is long beside the times between checkpoints and between failures",
               "a job that is done before its first checkpoint or failure"),
    Assumption("unannounced", "nothing tells of a failure before it comes", "saves just before failures"),
    Assumption("full_attention", "attention computes every score of a sequence, also those that a mask hides",
               "kernels that leave out what the mask hides"),
    Assumption("plain_products", "a product of matrices multiplies and adds once for each of its terms",
               "fast products (Strassen's), or zeros that are left out"),
    Assumption("private_context", "requests of a batch share no cached tokens", "a common prefix, read once"),
    Assumption("message_time", "every message takes at least a fixed time, and waits for what it passes on",
               "a collective in less than its rounds of messages"),
    Assumption("one_attachment", "a device reaches all others through its stated link bandwidth alone",
               "network ports of its own beside that link"),
    Assumption("fixed_slices", "the stated number and share of slices stay as they are", "another layout of slices"),
    Assumption("equal_batches", "all micro-batches of a step take the same time",
               "short micro-batches first and last, which fill and drain sooner"),
    Assumption("unicast", "a message goes to one receiver", "switches that copy messages (multicast)"),
    Assumption("roll_off", "the loop's gain falls faster than 1/frequency, or a dead time lies in it",
               "a loop that is an integrator up to the highest frequency"),
    Assumption("messages_only", "clocks learn of each other by messages alone", "a common source of time (GPS)"),
    Assumption("outside_proposers", "proposals come from outside those who decide",
               "replicas that propose for their clients (Egalitarian Paxos)"),
    Assumption("forwarded_only", "nodes forward and copy what they get, and compute nothing new of it",
               "network coding: sums of messages on a shared wire"),
    Assumption("partial_sums", "what is sent of a number is a sum of some members' parts of it",
               "codes that mix several numbers"),
    Assumption("failures_in_restarts", "a restart fails at the same rate as work does",
               "restarts during which nothing fails"),
    Assumption("four_wide_layers", "the two products of a layer behind its attention are four times its width",
               "another inner width, or gated layers"),
    Assumption("full_heads", "every head has keys and values of its own", "heads that share them (multi-query)"),
    Assumption("lock_step", "what is sent in a round is heard of at its end, after the longest delay",
               "detectors that tell of a stopped process sooner than the longest delay"),
    Assumption("free_phases", "phases that the design does not state are drawn apart, or are the worst",
               "a loop that reads just after its sensor, in step with it"),
    Assumption("stated_precision", "numbers have the format that the stated peak is of (BF16 where a tier says it)",
               "a format with a higher peak (FP8)"),
    Assumption("no_preview", "nothing tells of a disturbance before it shows in what is read",
               "feed-forward, or a schedule of what comes"),
    Assumption("late_messages", "no bound on delays is known, so that a late message is like none",
               "a bound on delays that always holds"),
    Assumption("arbitrary_faults", "a faulty replica may say anything to anybody",
               "hardware that numbers what a replica says (trusted counters)"),
    Assumption("any_vote", "each participant may refuse, and every outcome depends on all votes",
               "participants whose vote is known beforehand"),
    Assumption("decided_stops", "who has decided sends nothing more", "processes that help others on after deciding"),
    Assumption("several_users", "at least three processes use the register, any of which reads and any of which writes",
               "one process alone that reads, or that writes"),
    Assumption("exact_sum", "the sum of all parts is wanted", "steps that leave out what is late"),
    Assumption("one_at_a_time", "one server works at its stated speed, on one request at a time", "several servers"),
    Assumption("no_forecast", "nothing tells what comes next", "requests that follow a known law"),
    Assumption("independent_losses", "readings are lost independently of each other", "losses in turn"),
    Assumption("any_pattern", "messages may pass between any processes, in any order", "messages of one process only"),
    Assumption("componentwise", "timestamps are numbers, compared one by one", "a history that is sent along"),
    Assumption("last_write_read", "an answer shows the last write that had ended before it was asked for",
               "answers that are older (eventual consistency)"),
    Assumption("both_sides_answer", "clients on each side of a cut are answered there",
               "one side (a majority) that alone goes on"),
    Assumption("omitted_messages", "a process that fails may leave out any of its messages",
               "failures that everybody sees at once"),
    Assumption("not_monotone", "more data may take an answer back", "answers that only grow (unions, upper bounds)"),
    Assumption("never_waits", "a shard answers a read at once, also beside a write", "reads that wait for locks"),
    Assumption("one_version", "an answer of a shard holds one version", "answers with several versions"),
    Assumption("written_together", "writes of several shards come as one transaction", "writes of one shard alone"),
    Assumption("ring_links", "each process reaches its two neighbours alone", "links beside those of the ring"),
    Assumption("unknown_names", "no process knows beforehand which names there are", "a leader by configuration"),
    Assumption("unknown_size", "no process knows how many there are (uniform algorithms)",
               "a configured number of members"),
    Assumption("separate_clients", "two clients read, or clients hear from each other through shards alone",
               "one client that reads and is told of writes by the clients that write"),
    Assumption("unknown_places", "any holder may have what changes the answer", "data placed by key, at a known owner"),
    Assumption("delimited_messages", "no message begins another one, as where all have one length (prefix-free)",
               "lengths that vary and tell something themselves, as those of packets"),
    Assumption("integrator", "an error stays as it is where no command changes it", "an error that fades by itself"),
    Assumption("gaussian_disturbance", "disturbances are Gaussian, and they and what is left of them are stationary",
               "disturbances of few levels, which few bits tell whole"),
    Assumption("separate_values", "a reducer needs each value for itself",
               "combiners that add values before they are sent"),
    Assumption("given_inputs", "inputs are numbers that no processor can compute by itself",
               "entries that each processor computes where it needs them"),
    Assumption("unrelated_delays", "the delay of a message tells nothing of the delay of another one",
               "ways there and back that take equally long"),
    Assumption("one_try_at_a_time", "a try begins when the one before it is over", "hedged tries"),
)  # fmt: skip
ASSUMPTIONS = {one.name: one for one in _ALL}


def assumption(name: str) -> Assumption:
    """Returns the assumption of a name.  Raises UsageError."""
    known = ASSUMPTIONS.get(name)
    if known is None:
        raise UsageError(f"there is no assumption '{name}': {did_you_mean(name, ASSUMPTIONS)}")
    return known
