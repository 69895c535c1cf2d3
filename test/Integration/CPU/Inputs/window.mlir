// A window over a ragged rope; what stands for the schedule is put in by the test.
func.func @prefill(%w: i32, %q: tensor<?x2x24xbf16>, %iro: tensor<?xi32>,
    %k: tensor<?x2x16xbf16>, %v: tensor<?x2x16xbf16>, %bro: tensor<?xi32>,
    %co: tensor<?xi32>, %rope: tensor<?x8xbf16>, %lengths: tensor<?xi32>, %scale: f32,
    %out: tensor<?x2x16xbf16>, %lse: tensor<?x2xf32>)
    -> (tensor<?x2x16xbf16>, tensor<?x2xf32>) {
  %o:2 = mla.prefill #mla.sliding_window_causal parameters(%w)
      queries(%q, %iro) keys(%k, %v, %bro, %co) rope(%rope, %lengths)
      scale(%scale) outs(%out, %lse) {schedule = #mla.schedule<SCHEDULE>}
      : (i32, tensor<?x2x24xbf16>, tensor<?xi32>, tensor<?x2x16xbf16>,
         tensor<?x2x16xbf16>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xbf16>,
         tensor<?xi32>, f32, tensor<?x2x16xbf16>, tensor<?x2xf32>)
      -> (tensor<?x2x16xbf16>, tensor<?x2xf32>)
  return %o#0, %o#1 : tensor<?x2x16xbf16>, tensor<?x2xf32>
}
