"""GAIA's online policies: as its text has them (mode ``paper``), and as its authors' simulator does (``artifact``).

Where text and simulator differ, or the text leaves a point open:

=============================== ==================================== ======================================
point                           mode ``paper``                       mode ``artifact``
=============================== ==================================== ======================================
time                            continuous                           whole ticks of 5 s
starts that are looked at       where a run begins or ends with a    every tick by Lowest-Slot, whole hours
                                slot, in [a, a + W): no other is     after a by the others; both up to a + W
                                better                               itself
a job as long as J_short        short                                long; counted in both means
mean lengths                    of the queue's jobs in the instance  the same, in whole ticks
one queue for all jobs          its mean                             10 s are expected of every job
reserved CPUs of a job          all of it or none, for a whole run   the same
freed reserved CPUs             usable at once                       usable from the next tick on
who gets them (RES-First)       the earliest planned start; a job    the earliest arrival; equal ones in the
                                that does not fit is passed over     order of a heap; passed over as well
prepaid                         over the horizon                     until the last start
waiting                         of jobs: completion - a - length     mean over rows: start - a
spot CPUs                       evictions, by a seed; any J^max      no evictions; any J^max
evicted jobs                    restart at once, on demand           there are none
spot CPUs and suspended jobs    a run is one piece, or not on spot   Wait Awhile's pieces are classed each by
                                                                     its own length
Ecovisor's threshold            30 % quantile of [a, a + 24 h) by    the same over ticks, interpolated; an hour
                                time, fixed at a; hours below it run as clean as the threshold does not run
Ecovisor's hours                measured, against the forecast one   the same: forecasts are perfect
lengths known to Wait Awhile    true, whatever is told to others     the same
=============================== ==================================== ======================================
"""
